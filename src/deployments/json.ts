import { z } from 'zod'
import {
  component,
  componentOf,
  jobFailure,
  listOf,
  id,
  shown,
  time,
  does,
  lists,
  creates,
  works,
  reads,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { planned, plannedOperations } from '../environments/planned.tsx'
import { jobLog, logLine } from '../logs/json.ts'
import { deploymentStatuses, pulledOf } from './store.ts'
import { uploadOf } from './upload-store.ts'
import type { Deployment } from './store.ts'
import { shareJson, watchFields, watchJson } from './watch/json.ts'
import { deploymentTrace } from './trace.ts'

const pulled = () => z.object({ reference: z.string(), digest: z.string().nullable() }).nullable()

const upload = () =>
  z
    .object({
      commit: z.string().nullable(),
      message: z.string().nullable(),
      dirty: z.boolean(),
      files: z.int(),
      bytes: z.int(),
    })
    .nullable()

export const deployment = componentOf('Deployment', () => ({
  id,
  projectId: id,
  environmentId: id,
  number: z.int(),
  status: z.enum(deploymentStatuses),
  /** `image` when the registry was asked for a new image. */
  trigger: z.enum(['manual', 'webhook', 'rollback', 'promotion', 'api', 'image']),
  triggeredBy: z.string(),
  rollbackOf: id.nullable(),
  imageOf: id.nullable(),
  /** Null when it pulls an image, or was uploaded. */
  repositoryUrl: z.string().nullable(),
  /** What it pulls in place of a build, and the digest that this was. */
  pulled: pulled(),
  /** The files of a working copy in place of a commit: the commit that it had, and whether it differed. */
  upload: upload(),
  /** A tag's name, if `refType` is tag; the ref of a fork's pull request, if it is pull. */
  branch: z.string().nullable(),
  refType: z.enum(['branch', 'tag', 'pull']).nullable(),
  commit: z.object({
    hash: z.string().nullable(),
    author: z.string().nullable(),
    message: z.string().nullable(),
  }),
  /** What the provider said of the commit's checks; null when it didn't wait for any. */
  checks: z
    .object({
      passed: z.int(),
      pending: z.array(z.string()),
      failed: z.array(z.string()),
      problem: z.string().nullable(),
    })
    .nullable(),
  /** When it gives up to wait for them. */
  waitUntil: time.nullable(),
  ...watchFields(),
  /** The time that was chosen for it; null for at once. */
  plannedAt: time.nullable(),
  /** The freeze that it met. While it is waiting with `waitUntil` null, it waits for its end; a note says why it didn’t. */
  freeze: z.object({ reason: z.string(), until: time, note: z.string().nullable() }).nullable(),
  noCache: z.boolean(),
  image: z.string().nullable(),
  containerId: z.string().nullable(),
  url: z.url().nullable(),
  steps: z.array(z.object({ name: z.string(), startedAt: time, finishedAt: time.nullable() })),
  error: jobFailure().nullable(),
  downtimeMs: z.int().nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
}))

const refList = () =>
  listOf(z.object({ type: z.enum(['branch', 'tag']), name: z.string() })).extend({
    truncated: z.boolean(),
  })

/** What the registry has for the image of a project. */
const imageState = componentOf('ImageState', () => ({
  /** Null for a project that builds. */
  image: z.string().nullable(),
  /** How new images are found without a webhook. */
  follows: z.enum(['pattern', 'tag', 'nothing']),
  /** The last check since Davit started. */
  last: z
    .object({
      at: time,
      found: z.object({ tag: z.string(), digest: z.string() }).nullable(),
      outcome: z.string(),
      hasFailed: z.boolean(),
    })
    .nullable(),
  environments: z.array(z.object({ id, name: z.string(), pulled: pulled() })),
}))

/** A value is null when it is unknown or secret. */
const changes = () =>
  z
    .array(
      z.object({
        key: z.string(),
        change: z.enum(['added', 'removed', 'changed']),
        secret: z.boolean(),
        from: z.string().nullable(),
        to: z.string().nullable(),
      }),
    )
    .nullable()

const commit = () =>
  z.object({
    hash: z.string().nullable(),
    message: z.string().nullable(),
    author: z.string().nullable(),
    pulled: pulled(),
    upload: upload(),
  })

/** Compares the live deployment with another one. */
const versions = () =>
  z.object({
    deploymentId: id,
    isLive: z.boolean(),
    commit: z.object({ from: commit().nullable(), to: commit() }),
    /** Deployments in between that were live. */
    between: z.object({
      direction: z.enum(['back', 'forward', 'same']),
      count: z.int(),
      items: z.array(commit().extend({ deploymentId: id, number: z.int() })),
    }),
    image: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  })

const promotionPreview = component('PromotionPreview', () =>
  versions().extend({
    refused: z.string().nullable(),
    builtWithout: z.array(z.string()).nullable(),
    releaseCommand: z.string().nullable(),
    interruption: z.enum(['volume', 'port']).nullable(),
  }),
)

const settingChanges = () =>
  z.array(z.object({ name: z.string(), from: z.unknown(), to: z.unknown() })).nullable()

/** How a deployment differs from the live one of its environment; null when unknown. */
export const comparison = component('Comparison', () =>
  versions().extend({
    liveId: id.nullable(),
    variables: changes(),
    settings: settingChanges(),
  }),
)

const rollbackPreview = component('RollbackPreview', () =>
  versions().extend({
    refused: z.string().nullable(),
    variables: z.object({
      today: z.object({ refused: z.null(), changes: changes() }),
      release: z.object({ refused: z.string().nullable(), changes: changes() }),
    }),
    settings: settingChanges(),
    releaseCommand: z.string().nullable(),
    interruption: z.enum(['volume', 'port']).nullable(),
    /** True when containers of it are kept, which start again if nothing else changes. */
    kept: z.boolean(),
  }),
)

/** A new deployment has no container yet. */
export function deploymentJson(row: Deployment & { containerId?: string | null }) {
  const { errorStep: step, errorCode: code, errorMessage: message, errorHint: hint } = row
  return shown(deployment, {
    ...row,
    rollbackOf: row.trigger === 'rollback' ? row.imageOf : null,
    containerId: row.containerId ?? null,
    repositoryUrl: row.repositoryUrl || null,
    pulled: pulledOf(row),
    upload: uploadOf(row),
    watch: row.watch && watchJson(row.watch),
    share: shareJson(row.share),
    commit: {
      hash: row.commitHash ?? row.requestedCommit,
      author: row.commitAuthor,
      message: row.commitMessage,
    },
    error: code ? { step, code, message: message ?? '', hint } : null,
  })
}

export const operations: SliceOperations = () => ({
  Environments: {
    'GET /projects/:id/envs/:envId/promote': does(
      'Preview what a promotion to this environment would change',
      promotionPreview(),
    ),
    'POST /projects/:id/envs/:envId/promote': creates(
      'Deploy the version of the environment that it is promoted from, without a build',
      deployment(),
    ),
    ...plannedOperations(),
    'GET /projects/:id/envs/:envId/share': does(
      'Get whether a new version can have a share of the requests',
      z.object({ refused: z.string().nullable() }),
    ),
    'GET /projects/:id/envs/:envId/refs': does(
      'List the branches and tags that match the patterns of an environment; all without a pattern',
      refList(),
    ),
    'GET /projects/:id/envs/:envId/deployments': lists(
      'List the deployments of an environment, newest first',
      deployment(),
    ),
  },
  Deployments: {
    'GET /projects/:id/deployments/:deploymentId/compare': does(
      'Compare a deployment with the live one of its environment',
      comparison(),
    ),
    'GET /projects/:id/deployments': lists('List deployments, newest first', deployment()),
    'POST /projects/:id/deployments': creates(
      'Deploy, or plan that for a time: RFC 3339, or without an offset in the time zone',
      z.union([deployment(), planned()]),
    ),
    'POST /projects/:id/deploy': creates('Deploy; an alias', z.union([deployment(), planned()])),
    'GET /projects/:id/image': does(
      'Get the image of a project, as deployed and in the registry',
      imageState(),
    ),
    'POST /projects/:id/image/check': does(
      'Ask the registry for a new image, and deploy it',
      imageState().extend({ deployments: z.array(deployment()) }),
    ),
    'POST /projects/:id/uploads': {
      summary:
        'Deploy files: the body is a tar archive, compressed with gzip or zstd or not at all, of at most DAVIT_REPOSITORY_SIZE',
      answers: { 201: deployment() },
      archive: true,
    },
    'POST /hooks/deploy': {
      summary:
        'Deploy from a pipeline; with `wait` the response has the end of the deployment, and white space before it. 200: it joined the one of this commit that hasn’t ended',
      answers: { 200: deployment(), 201: deployment() },
    },
    'GET /projects/:id/deployments/:deploymentId': does('Get a deployment', deployment()),
    'GET /projects/:id/deployments/:deploymentId/trace': does(
      'Get where the time of a deployment went: each call of Docker and git, and each wait',
      deploymentTrace(),
    ),
    'GET /projects/:id/deployments/:deploymentId/status': does(
      'Get a deployment; an alias',
      deployment(),
    ),
    'GET /projects/:id/deployments/:deploymentId/rollback': does(
      'Preview what a rollback to this deployment would change',
      rollbackPreview(),
    ),
    'POST /projects/:id/deployments/:deploymentId/rollback': creates(
      'Roll back to this deployment, with the current variables or those of its release',
      deployment(),
    ),
    'POST /projects/:id/deployments/:deploymentId/cancel': works(
      'Cancel a deployment that has not ended, or has a share of the requests',
      deployment(),
    ),
    'POST /projects/:id/deployments/:deploymentId/promote': does(
      'Give all requests to a deployment that has a share of them',
      deployment(),
    ),
    'POST /projects/:id/deployments/:deploymentId/keep': does(
      'End the watch of a deployment: its version stays',
      deployment(),
    ),
    'GET /projects/:id/deployments/:deploymentId/logs': reads(
      'Read, search or follow its log',
      jobLog(),
      logLine(),
    ),
  },
})
