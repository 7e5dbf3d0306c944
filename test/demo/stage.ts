import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { setupCodeIn, startDavit } from '../support/davit.ts'
import { freePort } from '../support/free-port.ts'
import { startGitServer } from '../support/git-server.ts'
import { caddyImage } from '../support/images/edge.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureImage } from '../support/machine.ts'
import { removeEdge } from '../support/remove-from-engine.ts'
import { DavitClient } from './client.ts'
import { bold, dim, heading, say, success } from './terminal.ts'

export type Stage = Awaited<ReturnType<typeof setStage>>

/**
 * What a demonstration needs: a Davit of its own, run as a user would run it, a git server and an
 * account. All of it, and what is deferred, is removed at its end. `failed` is called when Davit ends.
 */
export async function setStage({
  backsUp = false,
  signal,
  failed,
}: {
  /** Whether restic is needed, too. */
  backsUp?: boolean | undefined
  signal: AbortSignal
  failed: (error: Error) => void
}) {
  await using made = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'davit-demo-'))
  made.defer(() => rm(directory, { recursive: true }))
  const repositories = join(directory, 'repositories')
  const git = startGitServer(repositories)
  made.defer(git.stop)

  const dataDir = join(directory, 'data')
  const edge = await setEdge(dataDir)
  if (edge) made.defer(edge.remove)
  else say(dim('Caddy isn’t available here: apps are reached by their ports.'))
  const env = {
    ...{ DAVIT_DATA_DIR: dataDir, DAVIT_ALLOW_HOSTS: '127.0.0.1' },
    ...(edge?.settings ?? { DAVIT_EDGE: 'direct' }),
    ...(backsUp && (await resticSettings())),
  }
  const server = await startDavit({ directory, env, detached: true })
  made.defer(async () => void (await server.stop()))
  void server.exited.then((status) => failed(new Error(`Davit ended, with status ${status}.`)))
  success(`Davit runs at ${server.url}`)

  const davit = new DavitClient({ url: server.url, signal })
  const account = { email: 'demo@example.com', password: crypto.randomUUID() }
  await davit.enter('/auth/register', { ...account, setupCode: setupCodeIn(dataDir) })

  const tools = made.move()
  return {
    davit,
    url: server.url,
    account,
    signal,
    repositories,
    gitUrl: git.url,
    /** For what a demonstration stores; it is removed at the end. */
    directory,
    /** Whether apps are behind a Caddy of the demo's. */
    hasEdge: edge !== null,
    defer: (undo: () => Promise<unknown>) => void tools.defer(async () => void (await undo())),
    /** Where a person sees what was shown. */
    showPlaces(path: string, url: string) {
      heading('See for yourself')
      say(`  page     ${bold(`${server.url}${path}`)}`)
      say(`  app      ${bold(url)}`)
      say(`  account  ${account.email}, password ${account.password}`)
    },
    [Symbol.asyncDispose]: () => tools.disposeAsync(),
  }
}

/** restic of Debian's packages where its official image can't be pulled. */
async function resticSettings() {
  const { resticImage } = parseConfig({})
  const isThere = await ensureImage(resticImage, { seconds: 60 })
  return { DAVIT_RESTIC_IMAGE: isThere ? resticImage : await ensureRestic('0.18') }
}

/**
 * What Davit needs to run a Caddy of the demo's, on free ports and under names that browsers have on this
 * machine by themselves; null where there is none. It outlives Davit, and is removed after it.
 */
async function setEdge(dataDir: string) {
  if (!(await ensureImage(caddyImage, { seconds: 30 }))) return null
  return {
    settings: {
      DAVIT_EDGE: 'auto',
      DAVIT_DOMAIN: 'davit.localhost',
      DAVIT_EDGE_PORTS: `${freePort()},${freePort()}`,
    },
    remove: () => removeEdge(connectDocker({ host: process.env.DOCKER_HOST }), dataDir),
  }
}
