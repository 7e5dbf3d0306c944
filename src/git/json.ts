import { z } from 'zod'
import { component, componentOf, listOf, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

export const repository = componentOf('Repository', () => ({
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string().nullable(),
  private: z.boolean(),
}))

export const ref = component('Ref', () => z.object({ name: z.string(), commit: z.string() }))

/** Present when the provider's list is incomplete because it took too long. */
const truncated = () => z.literal(true).optional()

export const repositoryList = component('RepositoryList', () =>
  listOf(repository()).extend({ truncated: truncated() }),
)

export const refList = component('RefList', () => listOf(ref()).extend({ truncated: truncated() }))

export const branchList = component('BranchList', () =>
  refList().extend({ defaultBranch: z.string().nullable() }),
)

export const lookedAt = componentOf('LookedAt', () => ({
  defaultBranch: z.string().nullable(),
  branches: z.array(z.string()),
  dockerfiles: z.array(z.string()).nullable(),
  /** What is built without a Dockerfile; null with one, or when nothing was recognised. */
  detected: z.object({ kind: z.string(), reasons: z.array(z.string()) }).nullable(),
}))

export const operations: SliceOperations = () => ({
  Git: {
    'GET /api/git/repos': does('List the repositories of a source', repositoryList()),
    'GET /api/git/look': does('Look at the repository of an address', lookedAt()),
    'GET /api/git/branches': does('List branches, of a source or of an address', branchList()),
    'GET /api/git/sources/:sourceId/repos': does(
      'List the repositories of a source',
      repositoryList(),
    ),
    'GET /api/git/sources/:sourceId/repos/:owner/:repo/branches': does(
      'List branches',
      branchList(),
    ),
    'GET /api/git/sources/:sourceId/repos/:owner/:repo/tags': does('List tags', refList()),
  },
})
