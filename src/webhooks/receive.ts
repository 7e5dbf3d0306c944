import type { Deps } from '../deps.ts'
import type { Deployment } from '../deployments/store.ts'
import { tellSuperseded } from '../deployments/waiting.ts'
import { AppError } from '../errors.ts'
import { journal } from '../journal.ts'
import type { Project } from '../projects/store.ts'
import { randomToken } from '../secrets.ts'
import { deliver } from './deliver.ts'
import type { Arrival, Content } from './deliver.ts'
import { findReceivers } from './find-receivers.ts'
import { notAnEvent, readPayload } from './payload.ts'
import type { Provider, Received } from './provider.ts'
import type { Receiver } from './store.ts'
import { untouchedBy } from './watch-paths.ts'

type ReceiveDeps = Pick<Deps, 'db' | 'logDb' | 'logs' | 'secrets'>

/** Signs for no project; checking against it takes as long as against one. */
const nobodysSecret = randomToken()

/**
 * One delivery of any provider: finds the projects that it names, believes it for those whose secret
 * signed it, and stores it with what it deploys before it answers. Waking the queue is left to the caller.
 */
export async function receive(
  deps: ReceiveDeps,
  provider: Provider,
  { received, mediaType }: { received: Received; mediaType: string },
): Promise<{ deployments: Deployment[]; reason: string }> {
  const { headers, now } = received
  const { payload, names } = readNamed(provider, { received, mediaType })

  const named = findReceivers(deps.db, names)
  if (named.length === 0) provider.isSignedWith(nobodysSecret, received)
  const signed = named.filter(({ project }) => {
    const secret = secretOf(deps, project)
    return secret !== null && provider.isSignedWith(secret, received)
  })
  const event = headers.get(provider.eventHeader)
  const about = { provider: provider.name, id: idOf(provider, headers), event: event ?? '', now }

  if (signed.length === 0) {
    deliverAll(
      deps,
      named.filter(({ exact }) => exact),
      { ...about, ...unsigned },
    )
    throw notSigned()
  }
  if (event === null) throw notAnEvent(`The header ${provider.eventHeader} is missing.`)
  const content = contentOf(provider, { event, payload })
  const untouched = await untouchedBy(
    content.push,
    signed.map(({ project }) => project),
  )
  const arrival = { ...about, signatureOk: true, untouched, ...content }
  const outcomes = deliverAll(deps, signed, arrival)
  if (content.push === null && content.decision === 'refused') throw notAnEvent(content.reason)
  return {
    deployments: outcomes.flatMap(({ queued }) => queued.map(({ deployment }) => deployment)),
    reason: [...new Set(outcomes.map(({ reason }) => reason))].join(' '),
  }
}

/** What of an unsigned body can't be read is of no interest either: it is refused as unsigned. */
function readNamed(
  provider: Provider,
  { received: { headers, body }, mediaType }: { received: Received; mediaType: string },
) {
  const isSigned = provider.signatureHeaders.some((name) => headers.has(name))
  try {
    const payload = readPayload(body, mediaType)
    const names = provider.readNames(payload)
    if (!names) throw notAnEvent('The body names no repository.')
    return { payload, names }
  } catch (error) {
    throw isSigned ? error : notSigned()
  }
}

const notSigned = () => new AppError('unauthorized', 'The signature is missing or does not fit.')

/** All or none, so that a sender who is told to try again does not find half of it done. */
function deliverAll(deps: ReceiveDeps, receivers: Receiver[], arrival: Arrival) {
  const outcomes = deps.db.transaction(
    () => receivers.map((receiver) => deliver(deps.db, receiver, arrival)),
    { behavior: 'immediate' },
  )
  for (const { queued } of outcomes) for (const one of queued) tellSuperseded(deps, one)
  return outcomes
}

const unsigned: Content & { signatureOk: false; untouched: ReadonlySet<string> } = {
  signatureOk: false,
  untouched: new Set(),
  push: null,
  decision: 'refused',
  reason: 'Its signature is missing, or was not made with the secret of this project.',
}

function contentOf(
  provider: Provider,
  { event, payload }: { event: string; payload: object },
): Content {
  if (event === 'ping') return ignored('The webhook is set up.')
  if (event !== provider.pushEvent)
    return ignored(`The event is ${event.slice(0, 100)}, not a push.`)
  const push = provider.readPush(payload)
  if (push) return { push }
  const reason = 'The body is not the push that its header says it is.'
  return { push: null, decision: 'refused', reason }
}

const ignored = (reason: string): Content => ({ push: null, decision: 'ignored', reason })

/** Null when the project has none that could sign, or it was sealed under another key. */
function secretOf({ secrets }: ReceiveDeps, { id, webhookSecret }: Project) {
  try {
    const secret = secrets.open(webhookSecret, `webhook ${id}`)
    return Buffer.byteLength(secret) >= 16 ? secret : null
  } catch {
    journal.warn('a webhook secret can not be opened', { project: id })
    return null
  }
}

/** A sender without ids of its own sends each delivery once. */
function idOf(provider: Provider, headers: Headers) {
  const id = provider.deliveryId(headers) ?? ''
  return /^[\x21-\x7e]{1,200}$/.test(id) ? id : Bun.randomUUIDv7()
}
