import { connectEngine } from '../../src/docker/engine.ts'
import type { RegistryAuth } from '../../src/docker/index.ts'
import type { sandbox } from '../docker/sandbox.ts'
import { collect } from '../docker/sandbox.ts'

/** An image that a line of the shell makes of busybox, in the registry only. Returns its reference. */
export async function pushImage(
  { docker, name, run }: ReturnType<typeof sandbox>,
  { auth, line, ...to }: { auth: RegistryAuth; line: string; repo?: string },
) {
  const engine = connectEngine(undefined)
  const repo = to.repo ?? `${auth.serveraddress}/app-${name()}`
  const id = await run(line)
  await docker.waitForExit(id)
  await engine.request('POST', '/commit', { query: { container: id, repo, tag: '1' } })
  await collect(engine.stream('POST', `/images/${repo}/push`, { query: { tag: '1' }, auth }))
  await docker.removeImage(`${repo}:1`)
  return `${repo}:1`
}
