import * as calls from './calls.ts'
import { connectEngine } from './engine.ts'
import type { Engine } from './engine.ts'
import type { Access } from './ssh.ts'
import { firstServer } from '../platform/root.ts'

type Calls = typeof calls

/** The calls, bound to one engine. */
type Bound = {
  [Name in keyof Calls]: Calls[Name] extends (engine: Engine, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never
}

export type Docker = ReturnType<typeof connectDocker>

/** Contacts nothing yet: with an absent engine, each call fails on its own. */
export function connectDocker({
  host,
  serverId = firstServer,
  login,
}: { host?: string | undefined } & Access = {}) {
  const engine = connectEngine(host, { serverId, login })
  const bound = Object.entries(calls).map(([name, call]) => [
    name,
    (call as (...args: unknown[]) => unknown).bind(null, engine),
  ])
  return {
    ...(Object.fromEntries(bound) as Bound),
    serverId,
    /** True when it is on another machine. */
    remote: engine.address.kind !== 'socket',
  }
}
