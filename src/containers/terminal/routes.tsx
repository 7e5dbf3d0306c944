import type { Context } from 'hono'
import { auditor } from '../../audit/record.ts'
import type { Config } from '../../config.ts'
import { EngineError, killed } from '../../docker/index.ts'
import type { Container, Docker, Terminal } from '../../docker/index.ts'
import { AppError } from '../../platform/errors.ts'
import { isWebSocket } from '../../web/client.ts'
import { isSameOrigin } from '../../web/csrf.ts'
import { factory } from '../../web/factory.ts'
import type { Env } from '../../web/factory.ts'
import { show } from '../../web/respond.tsx'
import type { Streams } from '../../web/streams.ts'
import { userOf } from '../../web/user-of.ts'
import { acceptWebSocket } from '../../web/web-socket.ts'
import { findContainer } from '../find.ts'
import type { FindDeps } from '../find.ts'
import { placeContainers } from '../place.ts'
import { TerminalPage } from './page.tsx'
import { mayOpenTerminal, refuseTerminal } from './permission.ts'
import { TerminalRelay } from './relay.ts'
import type { TerminalEnd } from './relay.ts'

/** A terminal counts as one of the user's streams. */
export const terminalRoutes = (deps: FindDeps & { config: Config; streams: Streams }) => {
  const { config, engines, streams } = deps
  const audit = auditor(deps.db)

  return factory.createApp().get('/containers/:id/terminal', async (c) => {
    const user = userOf(c)
    const { signal } = c.req.raw
    const { container, place } = await findContainer(deps, { id: c.req.param('id'), user, signal })
    refuseTerminal(config, { user, place })
    refuseUnlessRunning(container)
    if (isWebSocket(c)) return connect(c, container)
    streams.refuseMore(user.id) // a WebSocket can't say there are too many
    return show(c, {
      title: `Terminal: ${container.name}`,
      page: () => <TerminalPage container={container} />,
      json: () => ({ id: container.id, name: container.name }),
    })
  })

  function connect(c: Context<Env>, container: Container) {
    if (!c.var.token && !isSameOrigin(c, config.url))
      throw new AppError('forbidden', 'A page of another site can’t open a terminal here.')
    const user = userOf(c)
    const object = { kind: 'container', id: container.id, name: container.name } as const
    const docker = engines.of(container)
    const placeOf = () => placeContainers(deps, [container])(container)
    const isAllowed = () =>
      c.var.isLoginAlive() && mayOpenTerminal(config, { user, place: placeOf() })
    const relay = new TerminalRelay<Terminal>({
      ended: (terminal) => shellEnd(docker, { container, terminal }),
      isAllowed,
      shutdown: streams.shutdown,
      open: (signal) =>
        docker.openTerminal(container.id, { signal }).catch((error) => refused(error, container)),
      opened: () => audit(c, 'terminal.opened', { object }),
      closed: (milliseconds) => {
        const details = { seconds: String(Math.round(milliseconds / 1000)) }
        audit(c, 'terminal.closed', { object, details })
      },
      left: () => leave(),
    })
    const leave = streams.enter(user.id, { isAllowed, end: relay.recheck })
    try {
      return acceptWebSocket(c, relay)
    } catch (error) {
      leave()
      throw error
    }
  }
}

/** Milliseconds from the end of a container's programs until the engine reports that it has stopped. */
const stopNotice = 1000

async function shellEnd(
  docker: Docker,
  { container, terminal }: { container: Container; terminal: Terminal },
): Promise<TerminalEnd> {
  const exitCode = await terminal.exitCode()
  if (exitCode === killed) {
    const signal = AbortSignal.timeout(stopNotice)
    await docker.waitForExit(container.id, { signal }).catch(() => {})
  }
  const now = await docker.inspectContainer(container.id)
  const isSame = now?.startedAt?.getTime() === container.startedAt?.getTime()
  if (now?.state !== 'running' || !isSame)
    return { text: 'The container has stopped.', exitCode: null }
  return { text: `The shell has ended with exit code ${exitCode}.`, exitCode }
}

function refuseUnlessRunning({ name, state }: Pick<Container, 'name' | 'state'>) {
  if (state === 'running') return
  throw new AppError('conflict', `${name} isn’t running: it is ${state}. Start it first.`)
}

function refused(error: unknown, { name }: Pick<Container, 'name'>): never {
  if (!(error instanceof EngineError)) throw error
  const why = /not found|no such file/.test(error.message)
    ? 'its image has no shell (sh)'
    : error.message
  throw new AppError('conflict', `No shell could be started in ${name}: ${why}.`, { cause: error })
}
