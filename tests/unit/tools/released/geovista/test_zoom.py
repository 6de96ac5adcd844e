"""GeoVista's zoom as released: boxes in pixels of the picture shown, and errors in the words of Python."""

from support.released_geovista import ANSWER, play, written_call


def test_boxes_are_pixels_of_the_photo_as_it_is_shown():
    played = play(written_call("image_zoom_in_tool", bbox_2d=[0, 0, 1024, 512]), ANSWER, size=(4096, 2048))
    assert [(image.width, image.height) for image in played.appended_messages()[1].images] == [(2044, 1008)]


def test_errors_of_tool_calls_have_the_words_of_python():
    assert (
        "not enough values to unpack"
        in play(written_call("image_zoom_in_tool", bbox_2d=[1, 2, 3]), "").appended_messages()[1].text
    )
    assert (
        "division by zero"
        in play(written_call("image_zoom_in_tool", bbox_2d=[5, 5, 5, 5]), "").appended_messages()[1].text
    )
