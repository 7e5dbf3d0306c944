import { z } from 'zod'
import { component, componentOf, listOf, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

export const repository = componentOf('Repository', () => ({
  /** `owner/name`; GitLab may have nested groups before the name. */
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

export const workspace = componentOf('Workspace', () => ({
  directory: z.string(),
  name: z.string().nullable(),
  /** What it is deployed as; null for a package that others use. */
  kind: z.string().nullable(),
  /** What joins it with others, such as `pnpm`; null for an app of its own. */
  tool: z.string().nullable(),
  /** The directories of all that it needs of the repository. */
  dependsOn: z.array(z.string()),
  /** Proposed; empty where every push may change it. */
  watchPaths: z.array(z.string()),
}))

export const lookedAt = componentOf('LookedAt', () => ({
  defaultBranch: z.string().nullable(),
  branches: z.array(z.string()),
  /** Null when there were too many files, or they took too long. */
  dockerfiles: z.array(z.string()).nullable(),
  composeFiles: z.array(z.string()),
  /** What is built without a Dockerfile; null with one, or when nothing was recognised. */
  detected: z.object({ kind: z.string(), reasons: z.array(z.string()) }).nullable(),
  /** The apps of the repository and the packages that they share; none with a Dockerfile at the top. */
  workspaces: z.array(workspace()),
}))

export const operations: SliceOperations = () => ({
  Git: {
    'GET /api/git/repos': does('List the repositories of a source', repositoryList()),
    'GET /api/git/look': does('Look at a repository, of an address or of a source', lookedAt()),
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
