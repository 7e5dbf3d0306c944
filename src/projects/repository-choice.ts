import type { z } from 'zod'
import type { Db } from '../db/index.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { providers } from '../git/providers/registry.ts'
import { readRepositoryUrl } from '../git/repository-url.ts'
import { findSource } from '../git/store.ts'
import { parseImage } from '../registries/tag-pattern.ts'
import type { Source } from '../git/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import { wantsOrigin } from './forms.ts'
import type { projectUpdateForm } from './forms.ts'
import { newDeployKey, sharedDeployKey } from './keys.ts'
import { listSiblings } from './store.ts'
import type { Project } from './store.ts'

type RepositoryInput = z.output<ReturnType<typeof projectUpdateForm>>

export type RepositoryChoice = Pick<Project, 'repositoryUrl' | 'sourceId' | 'repository' | 'image'>

/**
 * A source's repository, an address, or an image; undefined when the request has none. Throws when it clears the
 * only one of a project. Uses no network.
 */
export function chooseRepository(
  { db }: { db: Db },
  { ownerId, asked, current }: { ownerId: string; asked: RepositoryInput; current?: Project },
): RepositoryChoice | undefined {
  const { repositoryUrl, sourceId, repository, image } = asked
  if (image) return { repositoryUrl: '', sourceId: null, repository: null, image }
  if (sourceId && repository) {
    // a project shows its address too, which may be sent back
    if (repositoryUrl && repositoryUrl !== current?.repositoryUrl)
      throw invalidField('repositoryUrl', 'comes from the git source. Give only one of the two.')
    const source = ownSource(db, { id: sourceId, ownerId })
    const url = providers[source.provider].cloneUrl(source.baseUrl, { repository })
    return { repositoryUrl: url, sourceId, repository, image: null }
  }
  if (repositoryUrl) return ofAddress(repositoryUrl)
  if (!current) return undefined
  const shown = current.image === null ? 'repositoryUrl' : 'image'
  if (asked[shown] === null) throw invalidField(shown, wantsOrigin[shown])
  const isDropped = sourceId === null || repository === null
  return isDropped && current.image === null ? ofAddress(current.repositoryUrl) : undefined
}

const ofAddress = (repositoryUrl: string): RepositoryChoice => ({
  repositoryUrl,
  sourceId: null,
  repository: null,
  image: null,
})

/** The default name of a project, from its repository, as in assets/forms.js. */
export const nameOf = (address: string) =>
  (address.trim().split(/[/:]/).findLast(Boolean) ?? '').replace(/\.git$/i, '').slice(0, 60)

/** The same from its image, without tag and digest. */
export const nameOfImage = (reference: string) =>
  (parseImage(reference)?.reference.path.split('/').at(-1) ?? '').slice(0, 60)

/**
 * Returns a key pair for a repository over ssh, unless it has one already. Projects of one owner have one in
 * common for a repository: it is added there once, and they share a mirror.
 */
export function deployKeyFor(
  { db, secrets }: { db: Db; secrets: Secrets },
  project: Pick<Project, 'id' | 'ownerId' | 'repositoryUrl' | 'sourceId'> & {
    deployKeyPublic?: string | null
  },
) {
  if (!usesDeployKey(project) || project.deployKeyPublic) return {}
  const other = listSiblings(db, project).find(({ deployKeyPrivate }) => deployKeyPrivate !== null)
  return (
    (other && sharedDeployKey(secrets, { from: other, to: project.id })) ??
    newDeployKey(secrets, project.id)
  )
}

/** False for an invalid address. */
export const usesDeployKey = ({
  repositoryUrl,
  sourceId,
}: Pick<Project, 'repositoryUrl' | 'sourceId'>) =>
  sourceId === null && readStored(repositoryUrl).url?.protocol === 'ssh'

/** Null for a valid address, or an image. Rules may be stricter than when it was stored. */
export const whyUnreadable = ({
  repositoryUrl,
  image,
}: Pick<Project, 'repositoryUrl' | 'image'>) =>
  image === null ? readStored(repositoryUrl).refusal : null

function readStored(address: string) {
  try {
    return { url: readRepositoryUrl(address, { allowLocal: true }), refusal: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { url: null, refusal: error.message }
  }
}

/** Throws the same error for someone else's source as for a missing one. */
function ownSource(db: Db, key: { id: string; ownerId: string }): Source {
  try {
    return findSource(db, key)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalidField('sourceId', 'is a git source that doesn’t exist.')
  }
}
