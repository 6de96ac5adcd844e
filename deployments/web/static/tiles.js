// The tiles of the map as Leaflet layers: pictures from any server, and the service's own, which are drawn.

/** Leaflet stops a tile by giving it an empty picture as a data: URL, which the policy of the page refuses. */
export function tilesWithoutData(L) {
  return L.TileLayer.extend({
    _removeTile(key) {
      this._tiles[key]?.el.removeAttribute("src");
      return L.GridLayer.prototype._removeTile.call(this, key);
    },
    _abortLoading() {
      for (const [key, { el: tile, coords }] of Object.entries(this._tiles)) {
        if (coords.z === this._tileZoom) continue;
        if (tile.complete) continue;
        tile.onload = tile.onerror = L.Util.falseFn;
        this._forget?.(tile);
        tile.removeAttribute("src");
        tile.remove();
        delete this._tiles[key];
        this.fire("tileabort", { tile, coords });
      }
    },
  });
}

/** Tiles of this origin, each drawn into a canvas that is emptied when the tile goes. Browsers keep the decoded pixels of
 * up to a thousand images that are no longer shown, 262 kB for each tile. */
export function drawnTiles(L, Tiles) {
  return Tiles.extend({
    createTile(coords, done) {
      const tile = L.DomUtil.create("canvas");
      tile.setAttribute("role", "presentation");
      tile.complete = false;
      tile.loading = new AbortController();
      draw(tile, this.getTileUrl(coords)).then(() => done(null, tile), (error) => tile.loading.signal.aborted || done(error, tile));
      return tile;
    },
    _removeTile(key) {
      const tile = this._tiles[key]?.el;
      Tiles.prototype._removeTile.call(this, key);
      if (tile) this._forget(tile);
    },
    _forget(tile) {
      tile.loading.abort();
      tile.width = tile.height = 0;
    },
  });
}

async function draw(tile, url) {
  const { signal } = tile.loading;
  const reply = await fetch(url, { signal });
  if (!reply.ok) throw new Error(`tile: ${reply.status}`);
  const bitmap = await createImageBitmap(await reply.blob());
  if (signal.aborted) bitmap.close();
  signal.throwIfAborted();
  [tile.width, tile.height] = [bitmap.width, bitmap.height];
  tile.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
  tile.complete = true;
}
