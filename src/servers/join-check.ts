import { z } from 'zod'
import { componentOf, time } from '../web/operation.ts'

export const serverName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * What Davit answers a server that is about to join. That server writes it into scripts and files of root,
 * so no field may have other characters than it needs.
 */
export const joinCheck = componentOf('JoinCheck', () => ({
  name: z.string().max(60).regex(serverName),
  /** The one that an admin chose. */
  address: z.ipv4().nullable(),
  /** True when this server has joined. */
  hasJoined: z.boolean(),
  /** Where Davit’s own server is, and from where its ssh comes. */
  cluster: z.ipv4(),
  from: z.ipv4(),
  mtu: z.int(),
  arch: z.string().regex(/^\w+$/),
  publicKey: z.string().regex(/^ssh-ed25519 [A-Za-z0-9+/]+={0,3} davit$/),
  /** Davit’s clock. */
  time,
  /** Whether connections arrive; `ssh` is null where it wasn’t tried. */
  reached: z.object({ ssh: z.boolean().nullable(), gossip: z.boolean() }),
}))

export type JoinCheck = z.infer<ReturnType<typeof joinCheck>>
