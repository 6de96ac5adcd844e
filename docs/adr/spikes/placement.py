"""Measure the choices behind the unit of placement on a local Ray Serve (see ADR 0002).

    python docs/adr/spikes/placement.py [--throughput 0|1]

Prints one JSON object: CPU-ms and wall per query for three shapes of the same work (4 rollouts x 3 turns x 16
text pieces + 2 tool calls), the cost of a streamed item at several coalescing intervals, streams leaked by
consumers that stop early, and the cost of the photo as argument or nested reference.
"""
import argparse, asyncio, json, os, sys, time

ap = argparse.ArgumentParser()
ap.add_argument("--throughput", default="1")
args = ap.parse_args()
os.environ["RAY_SERVE_THROUGHPUT_OPTIMIZED"] = args.throughput
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S", "0")

import ray
from ray import serve
import psutil

N, TURNS, PIECES, TOOLS = 4, 3, 16, 2

@serve.deployment(ray_actor_options={"num_cpus": 0}, max_ongoing_requests=500)
class Tool:
    async def call(self, q): return q

@serve.deployment(ray_actor_options={"num_cpus": 0}, max_ongoing_requests=500)
class Rollout:
    def __init__(self, tool): self.tool = tool; self.live = 0
    async def running(self): return self.live
    async def turn(self, photo, i):
        for k in range(PIECES):
            yield "word " * 3
    async def whole(self, photo, ids, coalesce):
        """A group of rollouts in one call; `coalesce` pieces travel together."""
        self.live += 1
        try:
            q = asyncio.Queue(64)
            async def one(i):
                for t in range(TURNS):
                    buf = []
                    for k in range(PIECES):
                        buf.append("word " * 3)
                        if len(buf) == coalesce:
                            await q.put(buf); buf = []
                    if buf: await q.put(buf)
                    await asyncio.gather(*[self.tool.call.remote("q") for _ in range(TOOLS)])
            async def all_():
                try: await asyncio.gather(*[one(i) for i in ids])
                finally: q.put_nowait(None) if not q.full() else await q.put(None)
            task = asyncio.create_task(all_())
            try:
                while (b := await q.get()) is not None: yield b
            finally:
                task.cancel()
        finally:
            self.live -= 1
    async def slow(self, n, gap):
        self.live += 1
        try:
            for i in range(n):
                yield i
                await asyncio.sleep(gap)
        finally: self.live -= 1
    async def items(self, n, batch):
        for i in range(0, n, batch): yield ["x" * 20] * batch
    async def size(self, photo):
        p = photo
        if isinstance(p, list): p = await p[0]
        return len(p)

@serve.deployment(ray_actor_options={"num_cpus": 0}, max_ongoing_requests=500)
class Gate:
    def __init__(self, rollout, tool): self.r, self.t = rollout, tool
    def s(self, m): return getattr(self.r.options(stream=True), m)
    async def by_group(self, n_calls, coalesce):
        async def run(ids):
            g = self.s("whole").remote(None, ids, coalesce)
            async for _ in g: pass
        per = N // n_calls
        await asyncio.gather(*[run(list(range(per))) for _ in range(n_calls)])
    async def by_turn(self):
        async def one(i):
            for t in range(TURNS):
                async for _ in self.s("turn").remote(None, i): pass
                await asyncio.gather(*[self.t.call.remote("q") for _ in range(TOOLS)])
        await asyncio.gather(*[one(i) for i in range(N)])
    async def items(self, n, batch):
        async for _ in self.s("items").remote(n, batch): pass
    async def leak(self, wrapped):
        g = self.s("slow").remote(200, 0.02)
        try:
            k = 0
            async for _ in g:
                k += 1
                if k == 2: break
        finally:
            if wrapped: g.cancel()
    async def running(self): return await self.r.running.remote()
    async def photo(self, how, photo):
        arg = photo if how == "bytes" else ([ray.put(photo)] if how == "nested" else ray.put(photo))
        return await asyncio.gather(*[self.r.size.remote(arg) for _ in range(4)])

def cpu():
    me = psutil.Process()
    root = me
    tot = 0.0
    for p in psutil.process_iter(["pid", "cpu_times", "cmdline"]):
        c = p.info["cmdline"] or []
        if c and ("ray::" in c[0] or "raylet" in c[0] or "gcs_server" in c[0] or p.pid == me.pid):
            t = p.info["cpu_times"]; tot += t.user + t.system
    return tot

async def timed(fn, reps):
    for _ in range(3): await fn()
    walls = []; c0 = cpu()
    for _ in range(reps):
        t = time.perf_counter(); await fn(); walls.append(time.perf_counter() - t)
    c1 = cpu(); walls.sort()
    return {"p50_ms": round(walls[len(walls)//2]*1e3, 2), "cpu_ms": round((c1-c0)/reps*1e3, 2)}

async def main():
    ray.init("local", num_cpus=2, include_dashboard=False, object_store_memory=150 << 20, log_to_driver=False)
    t = time.perf_counter()
    serve.start(http_options={"host": "127.0.0.1", "port": 18111})
    tool = Tool.bind(); roll = Rollout.bind(tool)
    h = serve.run(Gate.bind(roll, tool), name="spike", route_prefix=None)
    out = {"throughput_optimized": args.throughput, "up_s": round(time.perf_counter() - t, 1)}
    out["group_1_call"] = await timed(lambda: h.by_group.remote(1, 1), 40)
    out["group_1_call_merge16"] = await timed(lambda: h.by_group.remote(1, 16), 40)
    out["group_4_calls"] = await timed(lambda: h.by_group.remote(4, 1), 40)
    out["group_4_calls_merge16"] = await timed(lambda: h.by_group.remote(4, 16), 40)
    out["call_per_turn"] = await timed(lambda: h.by_turn.remote(), 40)
    for b in (1, 10, 50): out[f"stream_200_items_batch_{b}"] = await timed(lambda: h.items.remote(200, b), 20)
    photo = os.urandom(1_000_000)
    for how in ("bytes", "ref", "nested"): out[f"photo_{how}"] = await timed(lambda: h.photo.remote(how, photo), 15)
    for wrapped in (False, True):
        await asyncio.gather(*[h.leak.remote(wrapped) for _ in range(120)])
        await asyncio.sleep(0.5)
        out["left_running_" + ("wrapped" if wrapped else "unwrapped")] = await h.running.remote()
        await asyncio.sleep(5)
    print(json.dumps(out, indent=1))
    serve.shutdown(); ray.shutdown()
asyncio.run(main())
