import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { ProviderError } from '../git/providers/provider-error.ts'
import { providers } from '../git/providers/registry.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import { accessTo } from '../git/source-access.ts'
import { findSource } from '../git/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import {
  findProject,
  findWebhookHolder,
  forgetWebhook,
  listSiblings,
  updateProject,
} from './store.ts'
import type { Project } from './store.ts'

export type WebhookDeps = { db: Db; secrets: Secrets; config: Config }
type Options = { project: Project; signal: AbortSignal }

export type Webhook = {
  /** Null for a project without a source: its provider is unknown. */
  provider: ProviderName | null
  /** The URL it posts to; null without a source or a public address. */
  url: string | null
  registered: boolean
  /** True when Davit registered it, with the project's secret. */
  own: boolean
  /** The owner's other project of the repository that has it for both. */
  sharedWith: Pick<Project, 'id' | 'name'> | null
}

export const readWebhook = (deps: WebhookDeps, options: Options): Promise<Webhook> =>
  inWords(async () => {
    const { project } = options
    const place = project.sourceId === null ? null : openPlace(deps, options)
    if (!place?.url) return { provider: place?.name ?? null, url: null, ...absent }
    const { provider, access, repository, name, url } = place
    const found = await provider.findWebhook(access, { repository, url })
    const holder = found && findWebhookHolder(deps.db, { project, webhookId: found.id })
    const isShared = holder?.ownerId === project.ownerId && !project.webhookId
    // If several have this address, the provider returns the first.
    if (!found || (holder && !isShared && !project.webhookId))
      return { provider: name, url, ...absent }
    const sharedWith = isShared ? { id: holder.id, name: holder.name } : null
    const own = holder !== undefined || found.id === project.webhookId
    return { provider: name, url, registered: true, own, sharedWith }
  })

/** Of an owner and a repository, whose projects share a webhook: two changes at once would leave two webhooks. */
const turns = new KeyedLock()

function inTurn<Result>({ project, signal }: Options, work: () => Promise<Result>) {
  return turns.run(`${project.ownerId} ${project.repositoryUrl}`, signal, () => inWords(work))
}

type Registration = Options & {
  secret?: string
  /** Previews are about to be turned on. */
  pulls?: boolean
}

/** Uses the project's secret, and replaces an existing webhook, also one that it shared. */
export const registerWebhook = (deps: WebhookDeps, wanted: Registration): Promise<Webhook> =>
  inTurn(wanted, () => register(deps, wanted))

async function register(
  deps: WebhookDeps,
  { secret, pulls = false, ...options }: Registration,
): Promise<Webhook> {
  const project = findProject(deps.db, options.project) // it may have got one in the turn before
  const place = openPlace(deps, { ...options, project })
  const { provider, access, repository, name, url } = place
  if (!url) throw noAddress()
  const old = await findReplaceable(deps, { ...place, project, url })
  for (const id of old) {
    await provider.deleteWebhook(access, { repository, id })
    const holder = findWebhookHolder(deps.db, { project, webhookId: id })
    if (holder) updateProject(deps.db, holder.id, { webhookId: null })
  }
  const isGone = old.length > 0 && { webhookOutdated: true } // until the new one is there
  updateProject(deps.db, project.id, { webhookId: null, ...isGone })
  const reached = [project, ...listSiblings(deps.db, project)]
  const { id } = await provider.createWebhook(access, {
    repository,
    url,
    pulls: pulls || reached.some(({ previews }) => previews?.enabled),
    secret: secret ?? deps.secrets.open(project.webhookSecret, `webhook ${project.id}`),
  })
  findProject(deps.db, project) // else it is someone else's by now, who is to have another secret
  updateProject(deps.db, project.id, { webhookId: id, webhookOutdated: false })
  return { provider: name, url, registered: true, own: true, sharedWith: null }
}

/** Returns the secret once. Throws `conflict` if it was already shown. */
export const showWebhookSecret = (
  deps: WebhookDeps,
  { id, ownerId }: Pick<Project, 'id' | 'ownerId'>,
) =>
  asWriter(deps.db, () => {
    const project = findProject(deps.db, { id, ownerId })
    if (project.webhookSecretShown)
      throw new AppError(
        'conflict',
        'The webhook secret was already shown, and each one is shown once. Create a new one instead.',
      )
    updateProject(deps.db, id, { webhookSecretShown: true })
    return deps.secrets.open(project.webhookSecret, `webhook ${id}`)
  })

/** Changes the secret that signs deliveries, first at the provider if Davit registered the webhook. */
export const setWebhookSecret = (
  deps: WebhookDeps,
  { secret, ...options }: Options & { secret: string },
): Promise<void> =>
  inTurn(options, async () => {
    const project = findProject(deps.db, options.project)
    if (project.webhookId) await register(deps, { ...options, secret })
    const webhookSecret = deps.secrets.seal(secret, `webhook ${project.id}`)
    updateProject(deps.db, project.id, {
      webhookSecret,
      webhookSecretShown: true,
      webhookOutdated: false,
    })
  })

/** Succeeds when there is none at the provider. */
export const removeWebhook = (deps: WebhookDeps, options: Options): Promise<void> =>
  inTurn(options, async () => {
    const { webhookId } = findProject(deps.db, options.project)
    const project = { ...options.project, webhookId } // its repository may be another one by now
    const place = openPlace(deps, options)
    const { provider, access, repository, url } = place
    const unknown = url && !project.webhookId
    const ids = unknown
      ? await findReplaceable(deps, { ...place, project, url })
      : [project.webhookId]
    const holder = ids.map((id) => id && findWebhookHolder(deps.db, { project, webhookId: id }))[0]
    if (unknown && holder) throw heldBy(holder)
    for (const id of ids) if (id) await provider.deleteWebhook(access, { repository, id })
    forgetWebhook(deps.db, project)
  })

const absent = { registered: false, own: false, sharedWith: null }

function openPlace(deps: WebhookDeps, { project, signal }: Options) {
  const { ownerId, sourceId, repository } = project
  if (!sourceId || !repository)
    throw new AppError(
      'conflict',
      'This project has no git source. Add the webhook at your provider by hand, or choose a source in the settings of the project.',
    )
  const source = findSource(deps.db, { id: sourceId, ownerId })
  return {
    name: source.provider,
    provider: providers[source.provider],
    access: accessTo(deps, { source, signal }),
    repository,
    url: addressFor(deps.config, source.provider),
  }
}

const addressFor = ({ url }: Config, provider: ProviderName) =>
  url && `${url.origin}/webhooks/${provider}`

async function findReplaceable(
  { db }: WebhookDeps,
  {
    project,
    name,
    provider,
    access,
    repository,
    url,
  }: ReturnType<typeof openPlace> & { project: Project; url: string },
): Promise<string[]> {
  const found = await provider.findWebhook(access, { repository, url })
  const holder = found && findWebhookHolder(db, { project, webhookId: found.id })
  const isAnothers = holder && holder.ownerId !== project.ownerId
  if (isAnothers && name === 'github') throw taken(repository)
  const ids = [project.webhookId, isAnothers ? null : found?.id]
  return [...new Set(ids.filter((id) => typeof id === 'string'))]
}

const noAddress = () =>
  new AppError(
    'conflict',
    'Davit doesn’t know its public address for the provider. Set DAVIT_URL to it, then restart Davit.',
  )

const heldBy = ({ name }: Project) =>
  new AppError(
    'conflict',
    `The webhook is the one of your project ${name}, and works for both. Remove it there.`,
  )

const taken = (repository: string) =>
  new AppError(
    'conflict',
    `Someone else’s project has the webhook of ${repository}, and GitHub allows one for each address. Set the same webhook secret in both projects instead.`,
  )

/** Reports provider errors as upstream failures: a 404 would mean the project. */
async function inWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProviderError) || error.reason !== 'missing') throw error
    throw new AppError('bad_gateway', error.message, { cause: error })
  }
}
