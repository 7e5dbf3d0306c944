import { once } from 'node:events'
import { connect as connectTo, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { originOf, parseConfig } from '../config.ts'
import { openExisting } from '../db/index.ts'
import { refuseMissing } from '../db/failures.ts'
import { openInstallation } from '../db/installation.ts'
import { connectDocker, Engines } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { openSecrets } from '../platform/secrets.ts'
import { firstSignal } from '../platform/signals.ts'
import { detailsOf } from '../services/connection.tsx'
import {
  addressOfTarget,
  localUrl,
  mainTarget,
  refuseElsewhere,
  refuseSilent,
  refuseUnreachable,
  serviceNamed,
} from '../services/local-access.ts'
import type { LocalDeps } from '../services/local-access.ts'
import { servicePath } from '../services/own-service.ts'
import type { Target } from '../services/ports.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { UsageError, print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'

const usage = 'davit connect SERVICE [--port PORT] [--target COMPONENT:PORT] [--owner EMAIL]'

const loopback = '127.0.0.1'

/** Milliseconds for the engine requests before a connection. */
const engineLimit = 15_000

export const connect: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage,
    names: ['service'],
    options: { port: { type: 'string' }, target: { type: 'string' }, owner: { type: 'string' } },
  })
  const port = asked.port === undefined ? null : portIn(asked.port, '--port')
  const askedTarget = asked.target === undefined ? null : targetIn(asked.target)
  const config = parseConfig(env)
  refuseMissing(config.dataDir)
  const db = openExisting(join(config.dataDir, 'davit.db'))
  using _ = db.$client
  const secrets = openSecrets(config)
  const docker = connectDocker({ host: config.dockerHost })
  const engines = new Engines([docker])
  const instanceId = openInstallation(db, secrets)
  const deps = { config, db, docker, engines, secrets, instanceId }
  const signal = AbortSignal.timeout(engineLimit)

  const service = serviceNamed(deps, { name: asked.service, owner: asked.owner ?? null })
  refuseElsewhere(deps, service)
  await refuseUnreachable(deps, signal)
  const definition = await definitionOf(deps, service)
  const target = askedTarget ?? (await mainTarget(deps, service, { definition, signal }))
  const address = await addressOfTarget(deps, service, { ...target, signal })
  await refuseSilent(address, target.port, signal)

  const server = await listen(forward(deps, service, target), { port, preferred: target.port })
  const at = `${loopback}:${(server.address() as { port: number }).port}`
  const url = localUrl(deps, definition, { target, at })
  const hasSecrets = detailsOf(deps, definition, { withSecrets: false }).some(
    ({ value }) => value === null,
  )
  print(
    [
      `${service.name} (${target.component}, port ${target.port}) is at ${at} until Ctrl-C.`,
      ...(url ? [`\n  ${url}\n`] : []),
      ...(hasSecrets
        ? [`Its secrets: ${originOf(config)}${servicePath(service)}, “Show secrets”`]
        : []),
    ].join('\n'),
  )
  await firstSignal()
  return 0
}

function portIn(text: string, option: string) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new UsageError(`${option} must be a port from 1 to 65535, not “${text}”.`)
}

function targetIn(text: string): Target {
  const [, component, port] = /^([^:]+):([^:]+)$/.exec(text) ?? []
  if (!component) throw new UsageError(`--target must look like db:5432, not “${text}”.`)
  return { component, port: portIn(port!, 'the port of --target') }
}

/** Listens on the given port, else on the preferred one if it is free, else on any. */
async function listen(
  take: (client: Socket) => Promise<void>,
  { port, preferred }: { port: number | null; preferred: number },
): Promise<Server> {
  if (port !== null) {
    const why = (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE'
        ? `Port ${port} of ${loopback} is in use. Choose another one, or leave --port out.`
        : `Port ${port} of ${loopback} can’t be used (${error.code}). Choose another one.`
    return listenOn(take, port).catch((error) => {
      throw new AppError('conflict', why(error), { cause: error })
    })
  }
  return listenOn(take, preferred).catch(() => listenOn(take, 0))
}

async function listenOn(take: (client: Socket) => Promise<void>, port: number) {
  const server = createServer({ allowHalfOpen: true }, take)
  server.listen({ host: loopback, port, exclusive: true })
  await once(server, 'listening')
  return server
}

const forward =
  (deps: LocalDeps, service: Service, target: Target) =>
  async (client: Socket): Promise<void> => {
    client.on('error', () => {}) // the client hung up before it was connected
    try {
      const signal = AbortSignal.timeout(engineLimit)
      const host = await addressOfTarget(deps, service, { ...target, signal })
      const remote = connectTo({ host, port: target.port, allowHalfOpen: true })
      let isOpen = false
      remote.once('connect', () => (isOpen = true))
      // once connected, the client reports the end
      remote.on('error', ({ message }) => isOpen || warn(message))
      await Promise.allSettled([pipeline(client, remote), pipeline(remote, client)])
    } catch (error) {
      warn((error as Error).message)
      client.destroy()
    }
  }
