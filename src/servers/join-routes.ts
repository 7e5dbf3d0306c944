import { z } from 'zod'
import { recordEvent } from '../audit/record.ts'
import { invalidField } from '../platform/errors.ts'
import { routeTo } from '../platform/route-to.ts'
import { factory } from '../web/factory.ts'
import { line, typedCode } from '../web/fields.ts'
import { input } from '../web/input.ts'
import { creates, does, id } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { creatorOf } from './code-store.ts'
import type { JoinCode } from './code-store.ts'
import { joinByCode, openCode } from './codes.ts'
import type { CodeDeps } from './codes.ts'
import { hostAddress, hostKey, sshPort } from './form.ts'
import { joinCheck } from './join-check.ts'
import { reach } from './reach.ts'
import { listServers } from './store.ts'

type Deps = CodeDeps & {
  /** Counts an attempt, like those of logins, until it is forgiven. Throws after too many. */
  countTry: (address: string) => { forgive: () => void }
}

const code = typedCode('the code that Davit showed')

const place = z.object({
  address: hostAddress,
  sshPort,
  word: z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits.'),
})

const checkForm = z.object({
  code,
  /** Where Davit is to try to reach it, if it knows already, and what is sent to its UDP ports. */
  place: place.nullish(),
  /** Its id in a swarm. */
  nodeId: line('an id', { max: 64 }).nullish(),
})

const joinForm = z.object({ code, address: hostAddress, sshPort, hostKey })

/** For a server that joins by its code, before it has a login. */
export function serverJoinRoutes(deps: Deps) {
  /** Where the server of a code has shown that it is. */
  const shown = new Map<string, string>()
  /** Davit connects nowhere else: a code is no way to look around in its network. */
  const isPlaceOf = (code: JoinCode, address: string, sender: string) =>
    [sender, code.address, shown.get(code.id)].includes(address)
  return factory
    .createApp()
    .post('/auth/join/check', input(checkForm), async (c) => {
      const { place, nodeId, ...sent } = c.var.input
      const tried = deps.countTry(c.var.address)
      const known = listServers(deps.db).find((one) => nodeId && one.nodeId === nodeId)
      const code = openCode(deps, sent.code, known?.name)
      tried.forgive()
      const cluster = deps.config.clusterAddress!
      const isKnown =
        place != null &&
        (known?.address === place.address || isPlaceOf(code, place.address, c.var.address))
      const [{ arch }, way, { isThere, reached }] = await Promise.all([
        deps.docker.machine(),
        routeTo(place?.address ?? cluster),
        place ? reach(place, { isKnown }) : unasked,
      ])
      if (isThere) shown.set(code.id, place!.address)
      return c.json({
        ...{ name: code.name, address: code.address, publicKey: code.publicKey, cluster },
        ...{ hasJoined: known !== undefined, time: new Date() },
        ...{ from: way?.address ?? cluster, mtu: way?.mtu ?? 1500 },
        ...{ arch, reached },
      })
    })
    .post('/auth/join', input(joinForm), async (c) => {
      const { code: text, ...joined } = c.var.input
      const tried = deps.countTry(c.var.address)
      const code = openCode(deps, text)
      tried.forgive()
      if (!isPlaceOf(code, joined.address, c.var.address))
        throw invalidField(
          'address',
          'isn’t where the request comes from, and nothing there showed that it is this server. Run davit join again, or make a code for that address.',
        )
      const id = await joinByCode(deps, { ...joined, code }, c.req.raw.signal)
      recordEvent(deps.db, {
        ...{ actor: creatorOf(deps.db, code), action: 'server.added', address: c.var.address },
        object: { kind: 'server', id, name: code.name },
        details: { address: joined.address },
      })
      shown.delete(code.id)
      return c.json({ id, name: code.name }, 201)
    })
}

const unasked = { isThere: false, reached: { ssh: null, gossip: false } }

export const joinOperations: SliceOperations = () => ({
  Administration: {
    'POST /auth/join/check': does(
      'Ask what a server needs to join by its code, and whether Davit reaches it',
      joinCheck(),
    ),
    'POST /auth/join': creates(
      'Join by a code, as davit join does',
      z.object({ id, name: z.string() }),
    ),
  },
})
