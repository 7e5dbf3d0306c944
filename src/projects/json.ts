import { z } from 'zod'
import { workspace } from '../git/json.ts'
import {
  componentOf,
  id,
  shown,
  time,
  does,
  lists,
  creates,
  works,
  removal,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { Project } from './store.ts'

const buildSettings = () =>
  z.object({
    install: z.string().optional(),
    build: z.string().optional(),
    start: z.string().optional(),
    version: z.string().optional(),
    directory: z.string().optional(),
    packages: z.array(z.string()).optional(),
    spa: z.boolean().optional(),
  })

export const foundService = () =>
  z.object({
    name: z.string(),
    image: z.string().nullable(),
    /** The directory that it is built from; null when its image is pulled. */
    context: z.string().nullable(),
    replicas: z.int(),
    /** True for the one with the addresses. */
    web: z.boolean(),
  })

const detection = componentOf('Detection', () => ({
  /** Null when it couldn't be fetched. */
  commit: z.string().nullable(),
  /** `Dockerfile` when the repository has one. Null when nothing was recognised. */
  kind: z.string().nullable(),
  reasons: z.array(z.string()),
  dockerfile: z.string().nullable(),
  settings: buildSettings(),
  links: z.array(z.object({ template: z.string(), reason: z.string() })),
  releaseCommand: z.string().nullable(),
  /** Of a Compose file; empty otherwise. */
  services: z.array(foundService()),
  composeFiles: z.array(z.string()),
  /** Why nothing was recognised; null otherwise. */
  problem: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
  /** What the repository holds below its top. */
  workspaces: z.array(workspace()),
}))

export const project = componentOf('Project', () => ({
  id,
  name: z.string(),
  /** Null when the project deploys an image. */
  repositoryUrl: z.string().nullable(),
  image: z.string().nullable(),
  sourceId: id.nullable(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  dockerfilePath: z.string().nullable(),
  contextDir: z.string(),
  /** Null when it builds one image. */
  composeFile: z.string().nullable(),
  /** The service with the addresses; null for the one that is found. */
  composeService: z.string().nullable(),
  buildArgs: z.record(z.string(), z.string()),
  buildNetwork: z.boolean(),
  /** In place of what is detected; only what was set. */
  buildSettings: buildSettings(),
  gitDirectory: z.boolean(),
  autoDeploy: z.boolean(),
  watchPaths: z.array(z.string()),
  /** The registry is asked every few minutes whether the tag of its image has moved. */
  checkTag: z.boolean(),
  keepImages: z.int(),
  /** The public key, for the repository's settings. */
  deployKey: z.string().nullable(),
  /** True while the provider still has the webhook secret of the project's former owner. */
  webhookOutdated: z.boolean(),
  deleting: z.boolean(),
  createdAt: time,
}))

export const watchedFiles = componentOf('WatchedFiles', () => ({
  commit: z.string().nullable(),
  items: z.array(
    z.object({
      pattern: z.string(),
      /** The reason why it can't be saved; null otherwise. */
      refusal: z.string().nullable(),
      count: z.int().nullable(),
      /** The first of the files. */
      files: z.array(z.string()),
    }),
  ),
}))

export const projectJson = (row: Project) =>
  shown(project, {
    ...row,
    repositoryUrl: row.repositoryUrl || null,
    deployKey: row.deployKeyPublic,
    deleting: row.deletingAt !== null,
  })

const projectWithSecret = () =>
  project().extend({
    webhookSecret: z.string().optional(),
    /** The address for the webhook of the image's registry; it has a secret. */
    registryHook: z.url().optional(),
  })

export const operations: SliceOperations = () => ({
  Projects: {
    'GET /projects': lists('List your projects, newest first', project()),
    'POST /projects': creates(
      'Create a project, and with deploy its first deployment',
      projectWithSecret(),
    ),
    'GET /projects/:id': does('Get a project', project()),
    'PUT /projects/:id': does('Change name, repository, branch or image', project()),
    'GET /projects/:id/settings': does('Get the settings of a project', project()),
    'PUT /projects/:id/settings': does('Change how a project is built', projectWithSecret()),
    'GET /projects/:id/detection': does('Show what the repository is built as', detection()),
    'GET /projects/:id/watched-files': does('List what watched paths match', watchedFiles()),
    'DELETE /projects/:id': works('Delete a project and what it runs', removal()),
  },
})
