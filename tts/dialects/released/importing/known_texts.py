"""SHA-256 of the texts that the authors published, so that an import can report whether it found the same texts.

Made by `geotts profile import` from the commits named here (2026-11-23). Tools are hashed as compact JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KNOWN_COMMITS: Final[Mapping[str, str]] = {
    "thinking_with_map": "c39032626e99da60cd87a57d16f5869ac08ac867",
    "reverse": "e95f7c13aa65560f85d427febd265b2ab9262fef",
    "geoagent": "6e25f0866dce438e18ada3727536a1cc5a00e168",
    "geovista": "df32037178778ce7d442a276e910db7e631f3c74",
}
KNOWN_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "thinking_with_map/verl": {
        "system": "625685238a3c19a9ee59f68d656cfa3a9e7ea879a5f7e6abcf0350bd70fa9da8",
        "task": "20a1d63d08fb20e9acbc4f6bc66eec668340a0ff54e5c6f1c4f812233b8ea569",
        "texts/verifier_system": "2f352ada0ed7ac1e8ff799020bbbda7f2a16fa6bf469c162fb0a5030817a89fe",
        "texts/verifier_task": "f82eb78dc7572bd7862da31838c9a7b482faaa7f8823bf8e0830dbf36f5040f3",
        "tools/image_zoom_in_tool": "96dd1eeda80aa6348434d326515d5210057a20404429429fbb2c469b090a8366",
        "tools/amap_input_tips": "75a4a7854f26368a9d0285a0395b4382d60c0617078c8b26e0c7fc72d060f9a8",
        "tools/amap_keyword_search": "c0c19c324691de70b3455102912259dd65dcb8ff5ca8c478062a7eedf2d040dd",
        "tools/amap_poi_detail": "a41e1b3cb067699ba308e5ea12ea09f8eee1d55783e99f2e3fd47e620ebb079b",
        "tools/amap_static_map": "697d09708148813981448f5272f57fcf9f50ffac5612cb0ce428772e9fbbada6",
        "tools/amap_satellite_map": "0bea0288d629260dac62847b0860cb5e9dd6b4a24cee62e04fef7c1f3822bd1e",
        "tools/google_search": "204ef97b9290f661d874aea88cdfcab8f24f7a33f6ab7207c6cfd2b26ef5f729",
        "tools/google_map_search": "7fdb90e21e31ba3aa010d3f5579a07962f6fd6a5184b80fbdeccfc004f8dd688",
        "tools/google_static_map": "a2ce53f81c8e7368fc11330a11f1f1fbe7ba8adca2a7941f583fa2070d449782",
        "tools/web_search": "195f20d56b4972a3f641c50d520fe618265d427882d1c628bbc372255ad90996",
    },
    "thinking_with_map/demo": {
        "system": "ec65a87be5456d9955fca83227959b3f995854dde16a54762202f413169bedf9",
        "task": "222c4438be4d41fe4bc15bc8e70b63862d7490afe3f8f7f1644d21ace72c5d2c",
        "tools/image_zoom_in_tool": "ed04b0f98bd14e43adc3d0853174182209726abcacb1f55b3f46a2bb5fcf4bcc",
        "tools/amap_keyword_search": "b746c6774c1f77304520f7116e1621049f390a5cd25a8352fde706672151910b",
        "tools/amap_poi_detail": "427e8322c7b8cdd19bed9ee1e4d0c6264183a846798f74defd12d2d536129f01",
        "tools/amap_input_tips": "308672a0f7122d62efb6ae8ae49eaec1592518d9bec746ad3be491eadd2ea5ac",
        "tools/amap_static_map": "13a4c8e6f56ae858a29fd75745786eb35896e79932e52cc139271a4d21bb01d6",
        "tools/amap_satellite_map": "3263ae5bc369be59ca3b6a055bbcc130a24e57cf6a1a88d2fde1cdcf84760b17",
        "tools/web_search": "c1df49ed96ddab778372912ec53af0c76bfaa6358e3e7567ef44ba5b4bbec14e",
        "tools/google_map_search": "2f7e28ee994156bd556bc33b45013d21504524a4cf55d00b6d3f2a8fb1f9a3c8",
        "tools/google_static_map": "28074465b0309deb00f69a09bc325683bb4a789821d536e009e33745415e33ff",
    },
    "reverse/eval": {
        "system": "abc5016caba2328b24f74b59316abeb91b8275f4b52e4faaf59dd13f1f02a5f0",
        "task": "434c74062c8c0a82299dc2de0dbd514711418049439c8666b5747089d3a64bf6",
        "chat_template": "832716ea7cdd422554c4e1405ad31ed97243361c766ba8f7fc6d7b2d9aa1843a",
        "texts/nudge": "49cf91004ce3110b9608b555a14ff6da8b35f5128052b5305a67ce060615897d",
        "tools/image_zoom_in_tool": "929435fef661ae56e4c07255b8247b4faad4c14fb8165d9da8b211340c609f42",
        "tools/image_search_tool": "79d65ca8d5fc367c85c971aa645bbad0c0f840d5cbecadbc72f391a72433e7f0",
        "tools/text_search_tool": "798b3aad7f12a7ff345eee656b99a4f05d7ab6c93414c53505c1d87db0d75351",
    },
    "reverse/rl": {
        "system": "83d7be5ed08a07afe9593c4967af9d0d0e7c2ccd8db959a4727c4aa0f9d222e4",
        "task": "434c74062c8c0a82299dc2de0dbd514711418049439c8666b5747089d3a64bf6",
        "tools/image_zoom_in_tool": "32634f6559d766169481b5472e8fa41c832081010458be5e387b380326f0ab1a",
        "tools/image_search_tool": "be73ef260acdff0f304ce49a4204e028f3ac03a1ba09faaa851eb650b5e80ed1",
        "tools/text_search_tool": "2173568c4aaf873a5731d1108edcb68b00fd18734625898fd60f878ab24d815c",
    },
    "geoagent": {
        "system": "950869ebb3ee2f5607a669da86049ebbcb740ef6403f9df079ec67a7d76458c7",
        "task": "3de9863aa3fe5a2640ba64c94c82666f1cdcc5fdb1352ef8caa45d582722d0a8",
        "texts/training_system": "372efacc6848d16ec0e55f29ffc0c035d9a759df508c3a6e4eaa275492215a9e",
        "texts/consistency_system": "6b3efc79ef59ed7775c00c238f925e2696982b1decd033579903e380fb14369f",
    },
    "geovista/eval": {
        "system": "8ca72c42e45f27759caeee59898a7c7067ef1f7914a2fab0d872df5bb30c85d2",
        "task": "1373682cc91505d39c19f00a63362c5886fa5e7af696946efb11ba4b3203e353",
        "texts/answer_demand": "29c4333042f553b3480f183daac0348ee98f30455828d5c67bba85a48c10d74e",
        "texts/search_hint": "64541417c0304b2c472f112cf3e8982e304ec33e9e2bfd5c0b696477de8557ec",
    },
}
"""`system/path`, or the system where there is one loop → text → SHA-256."""
