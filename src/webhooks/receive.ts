import type { LogDb } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import type { Logs } from '../logs/logs.ts'
import type { Deployment } from '../deployments/store.ts'
import { listEnvironments } from '../environments/store.ts'
import type { CheckWatch } from '../deployments/checks.ts'
import { publishSuperseded } from '../deployments/waiting-store.ts'
import { AppError } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { pause } from '../platform/pause.ts'
import { hearsPulls, previewsOff } from '../previews/life.ts'
import { readDefinitions } from '../previews/make.ts'
import type { MakePreviewDeps } from '../previews/make.ts'
import type { Pull } from '../previews/pull.ts'
import { randomToken } from '../platform/secrets.ts'
import { deliver } from './deliver.ts'
import type { Arrival, Content } from './deliver.ts'
import { findReceivers, repositoryAddressOf } from './repository-names.ts'
import type { Named } from './repository-names.ts'
import { formField } from './form-field.ts'
import { notAnEvent, readPayload } from './payload.ts'
import type { Payload } from './payload.ts'
import { form } from './provider.ts'
import type { Provider, Received } from './provider.ts'
import { getReceiver } from './store.ts'
import { untouchedBy } from './watch-paths.ts'

export type ReceiveDeps = MakePreviewDeps & {
  logDb: LogDb
  logs: Logs
  checks: CheckWatch
}

export type Outcome = { deployments: Deployment[]; reason: string; ignored?: true }

/** A secret of no project: the check takes as long as with a real one. */
const nobodysSecret = randomToken()

/** In bytes, per delivery: each secret hashes the whole body. */
const maxHashed = 256 * 1024 * 1024

/** Maximum of projects whose inbox stores an unsigned delivery, which anyone can send. */
const maxRefused = 20

/**
 * Handles one delivery: finds the projects that it names, accepts it for those whose secret signed it, and
 * stores it with its deployments before the response. The caller wakes the queue.
 */
export async function receive(
  deps: ReceiveDeps,
  provider: Provider,
  sent: { received: Received; mediaType: string },
): Promise<Outcome> {
  const { headers, now } = sent.received
  const event = headers.get(provider.eventHeader)
  const { payload, received } = await readBelieved(provider, sent)
  const { names } = payload
  if (!names) return nameless(provider, { headers, event })

  const named = await findReceivers(deps.db, names)
  if (named.length === 0) await provider.isSignedWith(nobodysSecret, received)
  const signed = await findSigners(deps, provider, { named, received })
  const about = { provider: provider.name, id: idOf(provider, headers), event: event ?? '', now }

  if (signed.length === 0) {
    const exact = named.filter(({ exact }) => exact).slice(0, maxRefused)
    deliverAll(deps, exact, { ...about, ...unsigned })
    throw notSigned()
  }
  if (event === null) throw notAnEvent(`The header ${provider.eventHeader} is missing.`)
  const reached = [...signed, ...siblingsOf(signed, named)]
  if (provider.checkEvents.includes(event)) return hearChecks(deps, { reached, event, payload })
  const isOfPull = provider.pulls.events.includes(event)
  const receivers = reached.flatMap(({ id }) => getReceiver(deps.db, id) ?? [])
  // not even read: there are many, and they are large
  if (isOfPull && !receivers.some(({ project }) => hearsPulls(deps.db, project)))
    return { deployments: [], reason: previewsOff }
  const pull = isOfPull ? await payload.readPull() : null
  if (typeof pull === 'string') return { deployments: [], reason: pull } // not stored: there are many
  const content = isOfPull ? contentOfPull(pull) : await contentOf(provider, { event, payload })
  const watching = receivers.map(({ project }) => {
    return { project, environments: listEnvironments(deps.db, project.id) }
  })
  const untouched = await untouchedBy(content.push, watching)
  const projects = content.pull ? watching.map(({ project }) => project) : []
  const definitions = await readDefinitions(deps, projects)
  const arrival = { ...about, signatureOk: true, untouched, definitions, ...content }
  const outcomes = deliverAll(deps, reached, arrival, signed)
  if (content.pull)
    deps.scheduler.wake() // previews may end at other times
  else if (content.push === null && content.decision === 'refused') throw notAnEvent(content.reason)
  return {
    deployments: outcomes.flatMap(({ queued }) => queued.map(({ deployment }) => deployment)),
    reason: [...new Set(outcomes.map(({ reason }) => reason))].join(' '),
  }
}

/** An unsigned body is refused as unsigned, even if it is unreadable. */
async function readBelieved(
  provider: Provider,
  { received, mediaType }: { received: Received; mediaType: string },
) {
  try {
    const json = mediaType === form ? await formField(received.body, 'payload') : received.body
    if (json === null) throw notAnEvent('The form must have one field named payload.')
    const payload = await readPayload(provider, json)
    return { payload, received: provider.signsField ? { ...received, body: json } : received }
  } catch (error) {
    throw claimsSignature(provider, received.headers) ? error : notSigned()
  }
}

const claimsSignature = ({ signatureHeaders }: Provider, headers: Headers) =>
  signatureHeaders.some((name) => headers.has(name))

/**
 * An event of an organisation, a group or a whole server belongs to no project that could check its
 * signature. It is accepted without effect, because GitLab disables a webhook after four errors.
 */
function nameless(
  provider: Provider,
  { headers, event }: { headers: Headers; event: string | null },
): Outcome {
  if (event !== null && !provider.pushEvents.includes(event))
    return { deployments: [], reason: `${titled(event)} names no repository.`, ignored: true }
  throw claimsSignature(provider, headers)
    ? notAnEvent('The body doesn’t name a repository.')
    : notSigned()
}

/** Returns the projects whose secret signed it: those of at most one secret, which several may share. */
async function findSigners(
  deps: ReceiveDeps,
  provider: Provider,
  { named, received }: { named: Named[]; received: Received },
): Promise<Named[]> {
  const bySecret = new Map<string, Named[]>()
  for (const project of named) {
    const secret = secretOf(deps, project)
    if (secret !== null) bySecret.set(secret, [...(bySecret.get(secret) ?? []), project])
    await pause()
  }
  let hashed = 0
  for (const [secret, projects] of bySecret) {
    if (hashed > maxHashed) {
      journal.warn('a webhook delivery was too large to check with the secret of every project')
      return []
    }
    if (await provider.isSignedWith(secret, received)) return projects
    hashed += received.body.length
  }
  return []
}

/** The other projects of the same owner and repository: one webhook is enough for all of them. */
function siblingsOf(signed: Named[], named: Named[]): Named[] {
  const keyOf = ({ ownerId, repositoryUrl }: Named) => {
    const address = repositoryAddressOf(repositoryUrl)
    return address && [ownerId, address.host, address.path].join('\n')
  }
  const keys = new Set(signed.map(keyOf).filter((key) => key !== null))
  const ids = new Set(signed.map(({ id }) => id))
  return named.filter((other) => !ids.has(other.id) && keys.has(keyOf(other) ?? ''))
}

const notSigned = () => new AppError('unauthorized', 'The signature is missing or invalid.')

/** One transaction, so that a retry never finds half of the deployments. */
function deliverAll(deps: ReceiveDeps, named: Named[], arrival: Arrival, signed: Named[] = []) {
  const signerOf = ({ id, ownerId }: Named) =>
    (signed.find((one) => one.id === id) ?? signed.find((one) => one.ownerId === ownerId))?.id
  const outcomes = asWriter(deps.db, () =>
    named.flatMap((one) => {
      const receiver = getReceiver(deps.db, one.id)
      if (!receiver) return [] // the project was deleted meanwhile
      return deliver(deps, { ...receiver, signer: signerOf(one) ?? null }, arrival)
    }),
  )
  for (const { queued } of outcomes) for (const one of queued) publishSuperseded(deps, one)
  return outcomes
}

const unsigned: Content & Pick<Arrival, 'signatureOk' | 'untouched' | 'definitions'> = {
  signatureOk: false,
  untouched: new Set(),
  definitions: new Map(),
  push: null,
  decision: 'refused',
  reason: 'Its signature is missing, or wasn’t made with the secret of this project.',
}

/** Not stored: there are many, and they only make Davit ask the provider. */
function hearChecks(
  { checks }: ReceiveDeps,
  { reached, event, payload }: { reached: Named[]; event: string; payload: Payload },
): Outcome {
  const commit = payload.readCommit()
  const isHeard =
    commit !== null && checks.hear({ projectIds: reached.map(({ id }) => id), commit })
  const reason = isHeard
    ? `Davit asks for the checks of ${commit.slice(0, 7)}.`
    : `${titled(event)} is about no commit that waits for its checks.`
  return { deployments: [], reason }
}

async function contentOf(
  provider: Provider,
  { event, payload }: { event: string; payload: Payload },
): Promise<Content> {
  if (event === 'ping') return ignored('The webhook is set up.')
  if (!provider.pushEvents.includes(event)) return ignored(`${titled(event)} isn’t a push.`)
  const push = await payload.readPush()
  if (push && provider.isPushOf?.(event, push) !== false) return { push }
  const reason = 'The body isn’t the push that its header declares.'
  return { push: null, decision: 'refused', reason }
}

function contentOfPull(pull: Pull | null): Content {
  if (pull) return { push: null, pull }
  const reason = 'The body isn’t the pull request that its header declares.'
  return { push: null, pull: null, decision: 'ignored', reason }
}

/** Gitea sends some events without a name. */
const titled = (event: string) =>
  event === '' ? 'An event without a name' : `The event ${event.slice(0, 100)}`

const ignored = (reason: string): Content => ({ push: null, decision: 'ignored', reason })

/** Null when the project has no valid secret, or one that was encrypted with another key. */
function secretOf({ secrets }: ReceiveDeps, { id, webhookSecret }: Named) {
  try {
    const secret = secrets.open(webhookSecret, `webhook ${id}`)
    return Buffer.byteLength(secret) >= 16 ? secret : null
  } catch {
    journal.warn('a webhook secret can’t be decrypted', { project: id })
    return null
  }
}

/** A sender without delivery ids sends each delivery once, so each gets a new id. */
function idOf(provider: Provider, headers: Headers) {
  const id = provider.idHeaders.map((name) => headers.get(name)).find((id) => id !== null) ?? ''
  return /^[\x21-\x7e]{1,200}$/.test(id) ? id : Bun.randomUUIDv7()
}
