// The map: tiles, the places in layers, scale and coordinates. Leaflet comes with the first place that is to be shown.

import { centreOf } from "./check_result.js";
import { byId, clean, coordinates, cut, distance, el, fill, placeName } from "./dom.js";
import { counterpart, linkOf } from "./links.js";
import { apart } from "./notations.js";
import { legend } from "./legend.js";
import { beforePaint } from "./painting.js";
import { drawnTiles, tilesWithoutData } from "./tiles.js";
import "./trusted.js";

const OWN = { name: "Built-in map", url: "tiles/{z}/{x}/{y}.png", attribution: "Natural Earth · GSHHG · GeoNames", max_zoom: 10 };
const ENLARGED = 13; // the built-in tiles are enlarged beyond their own zoom
const LAYERS = { answer: "Answer", claimed: "Claimed places", candidates: "Candidates", rollouts: "Attempts", evidence: "Evidence", tools: "Tool results", distances: "Distances" };
const HIDDEN_FIRST = new Set(["tools"]);
const MOST_RESULTS = 200;
const SAME_KM = 1;
const [CLOSEST, WIDE] = [10, 5]; // zooms to begin with: of a town, and of a country

export const hue = (rollout) => `hue-${rollout % 10}`;

export class WorldMap {
  constructor() {
    this.sources = [OWN];
    this.hidden = new Set(HIDDEN_FIRST);
    this.words = {};
    this.results = 0;
    this.loading = null;
  }

  /** Further tile servers, which the operator has named. */
  offer(sources) {
    this.sources = [OWN, ...(sources ?? [])];
  }

  /** Nothing is shown any more; the next request begins. */
  clear() {
    byId("map").hidden = true;
    this.results = 0;
    this.words = {};
    this.touched = this.due = false;
    this.evidence = new Map();
    this.rollouts = new Map();
    for (const group of Object.values(this.groups ?? {})) group.clearLayers();
    this.#count();
  }

  /** What a rollout believes now; its earlier belief goes. */
  async hypothesis(rollout, point, name) {
    if (!point && !this.rollouts.has(rollout)) return;
    await this.#ready();
    if (this.rollouts.has(rollout)) this.groups.rollouts.removeLayer(this.rollouts.get(rollout));
    this.rollouts.delete(rollout);
    if (!point) return this.#countLater();
    const words = `Attempt ${rollout}: ${name}`;
    this.rollouts.set(rollout, this.#mark("rollouts", point, el("span", { class: `mark ${hue(rollout)}` }, rollout), words, linkOf.rollout(rollout)));
    this.#later();
  }

  /** Places that a tool returned. */
  async found(rollout, callId, name, points) {
    if (!points.length || this.results >= MOST_RESULTS) return;
    await this.#ready();
    for (const { point, label } of points.slice(0, 12)) {
      this.results += 1;
      const link = `${linkOf.call(rollout, callId)} ${linkOf.rollout(rollout)}`;
      this.#mark("tools", point, el("span", { class: `mark small ${hue(rollout)}` }), `${label} (${name}, attempt ${rollout})`, link);
    }
    this.#countLater();
  }

  /** The answer with its regions, the `known` country or region, the candidates and what separates them, and where
   * evidence lies. `words` are those of the legend about the answer. */
  async answer(answer, { regions, evidence, outlines, known = [], words = {} }) {
    await this.#ready();
    this.words = words;
    for (const name of ["answer", "claimed", "candidates", "evidence", "distances"]) this.groups[name].clearLayers();
    for (const feature of known) this.groups.answer.addLayer(this.L.geoJSON(feature, { style: () => ({ className: "known" }), interactive: false }));
    this.#regions(regions);
    this.#candidates(answer);
    if (answer.check) this.#claimed(answer.check, answer);
    this.#outlines(outlines);
    for (const { point, words, link } of evidence) this.#mark("evidence", point, el("span", { class: "mark proof" }, "✓"), words, link);
    if (!answer.abstained && answer.lat !== null) {
      const pin = this.#mark("answer", answer, el("span", { class: "mark pin" }, "★"), `Answer: ${placeName(answer) || coordinates(answer, 3)}`,
        isAlternative(answer) ? `${linkOf.answer()} ${linkOf.alternative()}` : linkOf.answer(), 1000);
      const label = el("span", {}, cut(clean(answer.place || answer.city || answer.region || answer.country || coordinates(answer, 3)), 60));
      pin.bindTooltip(label, { permanent: true, direction: "right", offset: [12, 0], className: "answer-label" });
    }
    this.touched = false;
    this.#legend(); // at once, with the marks that it explains
    this.#later();
  }

  /** The map has another size: everything is fitted into it, or its middle stays where a person has moved it. */
  resized() {
    if (this.map && !byId("map").hidden) this.#show();
  }

  /** Move to the marker of a link and give it the focus. */
  async pick(link) {
    await this.#ready();
    if (this.due) this.#show(); // now, not after the map has moved to the marker
    for (const [name, group] of Object.entries(this.groups)) {
      const marker = group.getLayers().find((one) => one.geottsLink?.split(" ").includes(link));
      if (!marker) continue;
      this.#toggle(name, true);
      this.map.setView(marker.getLatLng(), Math.max(this.map.getZoom(), 6), { animate: false });
      byId("map").scrollIntoView({ block: "nearest" });
      marker.getElement()?.focus({ preventScroll: true });
      return true;
    }
    return false;
  }

  #regions(features) {
    const style = (feature) => ({ className: `region ${/50/.test(feature.properties.role) ? "firm" : "wide"}`, interactive: false });
    for (const feature of features) this.groups.answer.addLayer(this.L.geoJSON(feature, { style, interactive: false }));
  }

  #candidates(answer) {
    const others = answer.candidates.map((one, rank) => ({ one, rank })).filter(({ rank }) => rank || answer.abstained).slice(0, 8);
    for (const { one, rank } of others) {
      this.#mark("candidates", one, el("span", { class: "mark candidate-mark" }, rank + 1), `Candidate ${rank + 1}: ${placeName(one) || "unnamed"}`, linkOf.candidate(rank), 500);
    }
    if (answer.abstained || answer.lat === null) return;
    for (const { one } of others.slice(0, 4)) this.#line(answer, one);
  }

  /** The claimed areas, and the best place outside of them where that is not the answer. */
  #claimed({ places, alternative }, answer) {
    places.forEach((place, number) => {
      for (const area of place.areas) {
        const middle = centreOf(area);
        if (!middle) continue;
        this.groups.claimed.addLayer(this.#area(area));
        this.#mark("claimed", middle, el("span", { class: "mark claim-mark" }, "?"), `Claimed: ${place.place}`, linkOf.claim(number), 800);
        if (!answer.abstained && apart(middle, answer) > SAME_KM) this.#line(answer, middle);
      }
    });
    if (!alternative) return;
    const same = !answer.abstained && apart(alternative, answer) < SAME_KM;
    if (!same) this.#mark("claimed", alternative, el("span", { class: "mark other-mark" }, "≠"), `Best place elsewhere: ${placeName(alternative) || "unnamed"}`, linkOf.alternative(), 400);
  }

  /** Claimed countries and regions, and a mark in the largest part of each. */
  #outlines(features) {
    for (const feature of features) {
      const { place, middle: [lon, lat], claim_number: number } = feature.properties;
      this.groups.claimed.addLayer(this.L.geoJSON(feature, { style: () => ({ className: "claimed" }), interactive: false }));
      this.#mark("claimed", { lat, lon }, el("span", { class: "mark claim-mark" }, "?"), `Claimed: ${place}`, linkOf.claim(number), 800);
    }
  }

  #area(area) {
    const style = { className: "claimed", interactive: false };
    if (area.kind === "circle") return this.L.circle([area.centre.lat, area.centre.lon], { ...style, radius: area.radius_km * 1000 });
    const east = area.east < area.west ? area.east + 360 : area.east;
    return this.L.rectangle([[area.south, area.west], [area.north, east]], style);
  }

  #line(from, to) {
    const far = distance(apart(from, to));
    const nearer = to.lon + 360 * Math.round((from.lon - to.lon) / 360);
    const line = this.L.polyline([[from.lat, from.lon], [to.lat, nearer]], { className: "between", interactive: false });
    line.bindTooltip(el("span", {}, far), { permanent: true, direction: "center", className: "far" });
    this.groups.distances.addLayer(line);
  }

  #mark(layer, point, icon, words, link, above = 0) {
    const made = this.L.marker([point.lat, point.lon], {
      icon: this.L.divIcon({ html: icon, className: "place", iconSize: null }), title: clean(words), keyboard: true, riseOnHover: true, zIndexOffset: above,
    });
    made.geottsLink = link;
    made.on("add", () => {
      made.getElement().dataset.link = link;
      made.getElement().setAttribute("aria-label", clean(words));
    });
    made.on("click keypress", (event) => {
      if (event.type === "keypress" && event.originalEvent.key !== "Enter") return;
      const other = counterpart(made.getElement(), byId("map"));
      (other?.matches("[tabindex], button, a, summary") ? other : other?.querySelector("[tabindex], button, a, summary"))?.focus();
      other?.scrollIntoView({ block: "center" });
    });
    this.groups[layer].addLayer(made);
    return made;
  }

  /** Show what was drawn, once for all that is drawn until the next frame. */
  #later() {
    byId("map").hidden = false;
    this.due = true;
    this.#countLater();
  }

  #countLater() {
    beforePaint(this, () => () => (this.due ? this.#show() : this.#count()));
  }

  /** Fit everything that is visible, until a person has moved the map. */
  #show() {
    this.due = false;
    this.map.invalidateSize({ pan: this.touched, animate: false });
    this.#count();
    if (this.touched) return;
    const answered = this.groups.answer.getLayers().length + this.groups.claimed.getLayers().length > 0;
    const shown = (answered ? ["answer", "claimed", "candidates"] : ["rollouts"]).flatMap((name) => this.groups[name].getLayers());
    const bounds = this.L.featureGroup(shown).getBounds();
    if (bounds.isValid()) this.map.fitBounds(bounds, { padding: [40, 40], maxZoom: this.words.outline === "" ? WIDE : CLOSEST, animate: false });
    this.touched = false;
  }

  #ready() {
    this.loading ??= this.#open();
    return this.loading;
  }

  async #open() {
    const style = el("link", { rel: "stylesheet", href: "web/leaflet.css" });
    const styled = new Promise((done) => { style.onload = style.onerror = done; });
    document.head.append(style);
    await Promise.all([import("./leaflet.js"), styled]);
    const L = this.L = globalThis.L.noConflict();
    this.Tiles = tilesWithoutData(L);
    this.OwnTiles = drawnTiles(L, this.Tiles);
    const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = L.map(byId("map-view"), { attributionControl: false, zoomAnimation: !quiet, fadeAnimation: !quiet, worldCopyJump: true, minZoom: 1, maxZoom: ENLARGED }).setView([25, 5], 2);
    this.map.on("layeradd", () => { // Leaflet makes the drawing with its first line, without a name
      for (const drawing of this.map.getPane("overlayPane").querySelectorAll("svg")) drawing.setAttribute("aria-label", "Regions and lines on the map");
    });
    L.control.scale({ imperial: false }).addTo(this.map);
    this.groups = {};
    for (const name of Object.keys(LAYERS)) {
      this.groups[name] = L.layerGroup();
      if (!this.hidden.has(name)) this.groups[name].addTo(this.map);
    }
    for (const kind of ["mousedown", "keydown", "wheel", "touchstart"]) {
      byId("map-view").addEventListener(kind, () => { this.touched = true; }, { passive: true });
    }
    const at = (point) => { byId("map-at").textContent = coordinates({ lat: point.lat, lon: ((((point.lng + 180) % 360) + 360) % 360) - 180 }, 4); };
    this.map.on("mousemove", (event) => at(event.latlng));
    this.map.on("move", () => at(this.map.getCenter()));
    this.#base(0);
    this.#controls();
  }

  #base(number) {
    const source = this.sources[number];
    const own = number === 0;
    this.tiles?.remove();
    const url = own ? new URL(source.url, document.baseURI).href.replaceAll("%7B", "{").replaceAll("%7D", "}") : source.url;
    const maxZoom = own ? ENLARGED : source.max_zoom;
    this.map.setMaxZoom(maxZoom);
    this.tiles = new (own ? this.OwnTiles : this.Tiles)(url, { maxNativeZoom: source.max_zoom, maxZoom, referrerPolicy: own ? false : "origin" }).addTo(this.map);
    byId("map-sources").textContent = `map: ${source.attribution}`;
  }

  #controls() {
    const layers = Object.entries(LAYERS).map(([name, words]) => {
      const box = el("input", { type: "checkbox", id: `layer-${name}`, checked: !this.hidden.has(name), onchange: () => this.#toggle(name, box.checked) });
      return el("label", { for: `layer-${name}` }, box, " ", words, " ", el("span", { class: "soft", id: `count-${name}` }));
    });
    const bases = this.sources.length < 2 ? "" : el("fieldset", {}, el("legend", {}, "Map"), this.sources.map((source, number) => {
      const notice = number ? ` (from ${new URL(source.url.replace("{s}.", "")).host}: it learns which area you look at)` : "";
      return el("label", {}, el("input", { type: "radio", name: "map-base", checked: number === 0, onchange: () => this.#base(number) }), ` ${source.name}${notice}`);
    }));
    fill(byId("map-layers"), el("fieldset", {}, el("legend", {}, "Layers"), layers), bases);
    this.#count();
  }

  #toggle(name, on) {
    if (on) this.groups[name].addTo(this.map);
    else this.groups[name].remove();
    const box = byId(`layer-${name}`);
    if (box) box.checked = on;
    this.#legend();
  }

  #count() {
    for (const [name, group] of Object.entries(this.groups ?? {})) {
      const shown = byId(`count-${name}`);
      if (shown) shown.textContent = String(group.getLayers().filter((one) => name !== "answer" || one.geottsLink).length);
    }
    this.#legend();
  }

  /** Say what is on the map; made again only where that is something else. */
  #legend() {
    const shown = new Set(Object.entries(this.groups ?? {}).filter(([, group]) => group.getLayers().length && this.map.hasLayer(group)).map(([name]) => name));
    const made = JSON.stringify([[...shown], this.words]);
    if (made === this.explained) return;
    this.explained = made;
    fill(byId("map-legend"), legend(shown, this.words ?? {}));
  }
}

/** Whether the answer is the best place outside of what was claimed, so that one mark stands for both. */
const isAlternative = (answer) => Boolean(answer.check?.alternative) && apart(answer, answer.check.alternative) < SAME_KM;
