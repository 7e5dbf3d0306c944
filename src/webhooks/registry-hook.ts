import type { ImageWatch } from '../deployments/new-images/image-watch.ts'
import { whyFailed, whyPinned } from '../deployments/new-images/check-image.ts'
import type { CheckOutcome } from '../deployments/new-images/check-image.ts'
import { AppError } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { isHookSecret } from '../projects/registry-hook.ts'
import type { Project } from '../projects/store.ts'
import { followedTag, parseImage } from '../registries/tag-pattern.ts'
import { plain } from './push.ts'
import { formField } from './form-field.ts'
import { notAnEvent } from './payload.ts'
import { form } from './provider.ts'
import type { Outcome, ReceiveDeps } from './receive.ts'
import { readNotice, registryTitles } from './registry-notice.ts'
import type { Notice } from './registry-notice.ts'
import { forgetOldDeliveries, getReceiver, insertDelivery } from './store.ts'
import type { Delivery, Receiver } from './store.ts'

export type HookDeps = ReceiveDeps & { images: ImageWatch }

/** In bytes. The longest, a batch of the distribution's registry, has a tenth of it. */
const maxNotice = 1024 * 1024

/** In characters. Longer JSON is parsed on another thread. */
const maxHere = 16 * 1024

type Sent = { receiver: Receiver; notice: Notice | null; now: number; signal: AbortSignal }

/**
 * Handles what a registry reports to the address of a project. Only the name of a tag is taken from it: the
 * registry itself is asked what that is by now, so no body can bring another image.
 */
export async function receiveNotice(
  deps: HookDeps,
  { receiver, notice, now, signal }: Sent,
): Promise<Outcome> {
  const { project } = receiver
  const base = { sender: notice?.sender ?? 'distribution', event: notice?.event ?? '', now }
  const keep = (outcome: Partial<Delivery>) => store(deps, project, { ...base, ...outcome })
  if (notice === null) {
    const reason = 'The body isn’t that of a registry’s webhook that Davit knows.'
    keep({ decision: 'refused', reason })
    throw notAnEvent(reason)
  }
  if (notice.tags.length === 0) {
    const reason =
      notice.event === 'ping'
        ? 'The webhook is set up.'
        : `The event ${notice.event} is no new image.`
    // a registry reports each layer, and each pull
    if (notice.sender !== 'distribution') keep({ decision: 'ignored', reason })
    return { deployments: [], reason }
  }
  const { ref, ...chosen } = choose(receiver, notice)
  if (chosen.tag === null) {
    keep({ ref, ...chosen.refusal })
    return { deployments: [], reason: chosen.refusal.reason }
  }
  const { tag, expected } = chosen
  const kept = { ref, push: { tag } }
  try {
    return await deps.images.check({
      ...{ project, tag, expected },
      by: { trigger: 'webhook', triggeredBy: registryTitles[notice.sender] },
      stored: (outcome) => keep({ ...kept, ...decisionOf(outcome) }),
      signal,
    })
  } catch (error) {
    const reason = signal.aborted ? tooSlow : whyFailed(error)
    if (reason === null) throw error
    keep({ ...kept, decision: 'failed', reason })
    throw error instanceof AppError && error.code === 'too_many'
      ? error
      : new AppError('unavailable', reason, { retryAfter: 60 })
  }
}

const tooSlow = 'The registry took too long to respond.'

export const decisionOf = ({ deployments, reason }: CheckOutcome) => ({
  decision: deployments.length > 0 ? ('deployed' as const) : ('ignored' as const),
  reason,
  deploymentIds: deployments.map(({ id }) => id),
})

const notOurs = () =>
  new AppError('unauthorized', 'This isn’t the address of a project, or no longer.')

/** The same for a secret of no project as for none. */
export function receiverOf({ db, secrets }: HookDeps, secret: string): Receiver {
  const [, id] = /^([0-9a-f-]{36})\./.exec(secret) ?? []
  const receiver = id ? getReceiver(db, id) : null
  if (!receiver || !isHookSecret(secrets, receiver.project, secret)) throw notOurs()
  if (receiver.project.deletingAt || receiver.isOwnerDisabled) throw notOurs()
  if (receiver.project.image === null)
    throw new AppError(
      'conflict',
      'This project builds from a repository, so no image is deployed.',
    )
  return receiver
}

export async function noticeIn(body: Buffer, mediaType: string): Promise<Notice | null> {
  if (body.length > maxNotice) throw new AppError('too_large', 'The body is larger than 1 MiB.')
  const json = mediaType === form ? await formField(body, 'payload') : body
  const text = json?.toString() ?? ''
  if (text.length <= maxHere) return readNotice(text)
  const tooLong = () => notAnEvent('The body took too long to read.')
  return parse<typeof readNotice>('readNotice', [text], { owner: 'webhooks', tooLong })
}

type Choice = { ref: string } & (
  | { tag: string; expected: string | null }
  | { tag: null; refusal: { decision: 'refused' | 'ignored'; reason: string } }
)

function choose({ project }: Receiver, { tags }: Notice): Choice {
  const { reference } = parseImage(project.image!)!
  const nameOf = ({ path, tag }: Notice['tags'][number]) => plain(`${path}:${tag}`, 300)
  const own = tags.filter(
    ({ registry, path }) =>
      (registry === null || registry === reference.registry) &&
      (path === reference.path || `library/${path}` === reference.path),
  )
  const ref = nameOf(own[0] ?? tags[0]!)
  const none = (decision: 'refused' | 'ignored', reason: string): Choice => ({
    ref,
    tag: null,
    refusal: { decision, reason },
  })
  if (own.length === 0)
    return none(
      'refused',
      `It is about another image, ${ref}: this project deploys ${project.image}.`,
    )
  if (reference.digest !== null) return none('ignored', whyPinned)
  const names = own.map(({ tag }) => tag)
  const tag = followedTag(project.image!, names)
  if (tag !== null) {
    const chosen = own.findLast((one) => one.tag === tag)!
    return { ref: nameOf(chosen), tag, expected: chosen.digest }
  }
  return none('ignored', `The tag isn’t the one of ${project.image}, or doesn’t match it.`)
}

function store(
  { db }: HookDeps,
  { id: projectId }: Project,
  {
    sender,
    event,
    now,
    ...outcome
  }: { sender: Notice['sender']; event: string; now: number } & Partial<Delivery>,
) {
  insertDelivery(db, {
    ...{ projectId, provider: sender, event: plain(event, 100), signatureOk: true },
    deliveryId: Bun.randomUUIDv7(), // a repeat does no harm, and may be what a failure needs
    createdAt: new Date(now),
    ...outcome,
  })
  forgetOldDeliveries(db, { projectId, signatureOk: true, now })
}
