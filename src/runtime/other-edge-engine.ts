import { refused, unreachable } from '../edge/admin.ts'
import { folderInside, folderVolume, image } from '../edge/container.ts'
import type { OtherEngine } from '../edge/other-engine.ts'
import { adminSocket } from '../edge/plan.ts'
import type { RuntimeDeps } from './deps.ts'
import {
  edgeVolume,
  ensureEdgeContainer,
  findEdgeContainer,
  removeEdgeContainer,
} from './edge-container.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** Seconds for open requests of an edge that ends. */
const graceSeconds = 60

/** Milliseconds that Caddy may take to start, and between two attempts. */
const startTime = 20_000
const interval = 200

type Deps = Pick<RuntimeDeps, 'engines' | 'instanceId'>

/** Runs Caddy on another server, which shares no folder with Davit: all goes through the engine there. */
export function otherEdgeEngine(deps: Deps, serverId: string): OtherEngine {
  const { instanceId } = deps
  const there = () => deps.engines.of({ serverId })
  const on = () => ({ docker: there(), instanceId })
  return {
    find: (options) => findEdgeContainer(on(), options),
    async prepare({ signal }) {
      const [own] = deps.engines.all
      if (await there().hasImage(image, { signal })) return
      await there().loadImage(own.saveImage(image, { signal }), { signal })
    },
    ensure: ({ signal }) => ensureEdgeContainer(on(), { folder: null, signal }),
    put: (id, options) => there().putArchive(id, options),
    async sweep(id, { paths, signal }) {
      await there().runInContainer(id, { command: ['rm', '-r', '--', ...paths], signal })
    },
    async load(id, { path, signal }) {
      const admin = `unix/${adminSocket(folderInside)}`
      const command = ['caddy', 'reload', '--config', path, '--address', admin]
      const end = performance.now() + startTime
      for (;;) {
        const { exitCode, output } = await there().runInContainer(id, { command, signal })
        if (exitCode === 0) return
        const said = /Error: ([\s\S]*)/.exec(output)?.[1] ?? output
        const answer = /HTTP \d+: ([\s\S]*)/.exec(said)?.[1]
        if (answer) throw refused(answer.trim())
        if (performance.now() > end) throw unreachable(new Error(said.trim()))
        await sleep(interval, undefined, { signal })
      }
    },
    async *lines(id, { signal }) {
      const options = { follow: true, tail: 0, signal }
      for await (const lines of there().containerLogs(id, options))
        yield lines.flatMap(({ stream, text }) => (stream === 'stdout' ? text : []))
    },
    async remove({ signal }) {
      await removeEdgeContainer(on(), { signal, graceSeconds })
      const volume = edgeVolume(instanceId)
      for (const name of [volume, folderVolume(volume)]) await there().removeVolume(name)
    },
  }
}
