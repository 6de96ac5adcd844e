// A position as people write it: decimal degrees, degrees with minutes and seconds, UTM, and as a geo: address (RFC 5870).

const A = 6378137; // WGS-84, m
const E2 = 0.00669437999014;
const K0 = 0.9996;
const BANDS = "CDEFGHJKLMNPQRSTUVWXX";

const halves = (value, positive, negative) => {
  const seconds = Math.round(Math.abs(value) * 36000) / 10;
  const [degrees, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${degrees}° ${minutes}′ ${(seconds % 60).toFixed(1)}″ ${value < 0 ? negative : positive}`;
};

/** Degrees, minutes and seconds. */
export const sexagesimal = ({ lat, lon }) => `${halves(lat, "N", "S")}, ${halves(lon, "E", "W")}`;

/** `geo:` with the 90 % radius in metres as uncertainty where it is known. */
export function geoAddress({ lat, lon }, radiusKm) {
  return `geo:${lat.toFixed(6)},${lon.toFixed(6)}${radiusKm ? `;u=${Math.round(radiusKm * 1000)}` : ""}`;
}

function zoneOf(lat, lon) {
  if (lat >= 56 && lat < 64 && lon >= 3 && lon < 12) return 32; // Norway
  if (lat >= 72 && lat < 84 && lon >= 0 && lon < 42) return [31, 33, 35, 37][lon < 9 ? 0 : lon < 21 ? 1 : lon < 33 ? 2 : 3];
  return Math.min(60, Math.floor((lon + 180) / 6) + 1);
}

/** UTM zone, easting and northing in m; null near the poles, where UTM ends. Snyder, Map Projections (1987), p. 61. */
export function utm({ lat, lon }) {
  if (lat < -80 || lat >= 84) return null;
  const zone = zoneOf(lat, lon);
  const phi = (lat * Math.PI) / 180;
  const [e4, e6, second] = [E2 ** 2, E2 ** 3, E2 / (1 - E2)];
  const n = A / Math.sqrt(1 - E2 * Math.sin(phi) ** 2);
  const t = Math.tan(phi) ** 2;
  const c = second * Math.cos(phi) ** 2;
  const a = Math.cos(phi) * ((lon - (zone * 6 - 183)) * Math.PI) / 180;
  const m = A * ((1 - E2 / 4 - (3 * e4) / 64 - (5 * e6) / 256) * phi - ((3 * E2) / 8 + (3 * e4) / 32 + (45 * e6) / 1024) * Math.sin(2 * phi)
    + ((15 * e4) / 256 + (45 * e6) / 1024) * Math.sin(4 * phi) - ((35 * e6) / 3072) * Math.sin(6 * phi));
  const easting = K0 * n * (a + ((1 - t + c) * a ** 3) / 6 + ((5 - 18 * t + t ** 2 + 72 * c - 58 * second) * a ** 5) / 120) + 500000;
  const northing = K0 * (m + n * Math.tan(phi) * (a ** 2 / 2 + ((5 - t + 9 * c + 4 * c ** 2) * a ** 4) / 24
    + ((61 - 58 * t + t ** 2 + 600 * c - 330 * second) * a ** 6) / 720)) + (lat < 0 ? 1e7 : 0);
  return `${zone}${BANDS[Math.floor((lat + 80) / 8)]} ${Math.round(easting)} ${Math.round(northing)}`;
}

const RADIUS_KM = (A * (2 + Math.sqrt(1 - E2))) / 3000; // the mean radius of the ellipsoid, (2a + b) / 3

/** The distance on the ground in km, on a sphere: right to half a per cent. */
export function apart(one, other) {
  const rad = Math.PI / 180;
  const [dLat, dLon] = [(other.lat - one.lat) * rad, (other.lon - one.lon) * rad];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(one.lat * rad) * Math.cos(other.lat * rad) * Math.sin(dLon / 2) ** 2;
  return 2 * RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}
