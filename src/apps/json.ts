import { z } from 'zod'
import { rollbackReasons } from '../environments/store.ts'
import {
  componentOf,
  id,
  shown,
  time,
  does,
  lists,
  creates,
  works,
  reads,
  follows,
  removal,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { link } from '../links/json.ts'
import { fromCode } from '../environments/code-settings.ts'
import { command } from '../environments/json.ts'
import { output, outputLine } from '../logs/json.ts'
import { workloadUsage } from '../containers/usage/json.ts'
import { traffic } from '../traffic/json.ts'
import { instanceStates } from './live.ts'
import { hasPort } from '../environments/processes.ts'
import { freezeJson } from '../deployments/freezes.tsx'
import { planned, plannedJson } from '../environments/planned.tsx'
import { preview, previewJson } from '../environments/preview-note.tsx'
import type { Environment } from '../environments/store.ts'
import type { appOf } from './shown.ts'

export const environment = componentOf('Environment', () => ({
  id,
  projectId: id,
  name: z.string(),
  branch: z.string().nullable(),
  tags: z.string().nullable(),
  waitForChecks: z.boolean(),
  promoteFrom: id.nullable(),
  promoteAutomatically: z.boolean(),
  port: z.int().nullable(),
  hostPort: z.int().nullable(),
  domains: z.array(z.string()),
  url: z.url().nullable(),
  drainSeconds: z.int(),
  /** DAVIT_WATCH_SECONDS while it has none of its own. */
  watchSeconds: z.int(),
  rollbackOn: z.array(z.enum(rollbackReasons)),
  healthPath: z.string().nullable(),
  healthHost: z.string().nullable(),
  healthTimeout: z.int(),
  memoryMb: z.int(),
  cpus: z.number(),
  autoDeploy: z.boolean().nullable(),
  /** Null for the server that Davit runs on. */
  placement: z
    .union([
      z.object({ server: id }),
      z.object({ labels: z.record(z.string(), z.string()), spread: z.literal('servers') }),
    ])
    .nullable(),
  /** The server that its volumes are on; null before it has any. */
  pinnedTo: id.nullable(),
  volumes: z.array(z.string()),
  processes: z.array(
    z.object({
      name: z.string(),
      command: command().nullable(),
      replicas: z.int(),
      memoryMb: z.int().nullable(),
      cpus: z.number().nullable(),
      stopSeconds: z.int().optional(),
      init: z.boolean().optional(),
    }),
  ),
  releaseCommand: command().nullable(),
  releaseTimeout: z.int(),
  /** The file of the live commit that sets some of these, with the names of all that it sets; null without one. */
  fromCode: z.object({ file: z.string(), settings: z.array(z.string()) }).nullable(),
  links: z.array(link()),
  pendingChanges: z.array(z.string()),
  live: z
    .object({
      deploymentId: id,
      instances: z.array(
        z.object({
          process: z.string(),
          containerId: z.string().nullable(),
          serverId: id,
          state: z.enum(instanceStates),
          address: z.string().nullable(),
          image: z.string().nullable(),
        }),
      ),
    })
    .nullable(),
  /** The deployment whose containers are kept: a rollback to it starts them. */
  keptDeploymentId: id.nullable(),
  /** The deployment that waits for its time. */
  planned: planned().nullable(),
  /** The freeze of now, or else the next. */
  freeze: freezeJson().nullable(),
  /** Of a pull request; null for any other environment. */
  preview: preview().nullable(),
  /** Servers that are away and have its volumes, or containers of it that should run, or may have them. */
  waitsFor: z.array(z.string()),
  deleting: z.boolean(),
  createdAt: time,
}))

/** With its live deployment. */
export const environmentJson = (
  row: Environment,
  { pending, planned, preview, kept, awaited, ...app }: Awaited<ReturnType<typeof appOf>>,
) =>
  shown(environment, {
    ...row,
    ...app,
    hostPort: hasPort(row) ? row.hostPort : null,
    fromCode: fromCode(row),
    pendingChanges: pending.names,
    keptDeploymentId: kept?.id ?? null,
    planned: planned && plannedJson(planned),
    preview: preview && previewJson(preview),
    waitsFor: awaited.map(({ name }) => name),
    deleting: row.deletingAt !== null,
  })

export const operations: SliceOperations = () => ({
  Environments: {
    'GET /projects/:id/envs': lists('List the environments of a project', environment()),
    'POST /projects/:id/envs': creates('Create an environment', environment()),
    'GET /projects/:id/envs/:envId': does('Get an environment', environment()),
    'PUT /projects/:id/envs/:envId': does('Change an environment', environment()),
    'GET /projects/:id/envs/:envId/output': reads(
      'Read or search what its containers wrote',
      output(),
    ),
    'GET /projects/:id/envs/:envId/output/stream': follows(
      'Follow what its containers write',
      outputLine(),
    ),
    'GET /projects/:id/envs/:envId/usage': does(
      'Get the usage of its processes over the last hour, day or week, each and together',
      workloadUsage(),
    ),
    'GET /projects/:id/envs/:envId/metrics': does(
      'Get both its usage and its requests of the last hour, day or week',
      z.object({ usage: workloadUsage(), traffic: traffic() }),
    ),
    'POST /envs/:envId/start': works('Start all that an environment runs', environment()),
    'POST /envs/:envId/restart': works('Restart all that an environment runs', environment()),
    'POST /envs/:envId/stop': works('Stop all that an environment runs', environment()),
    'DELETE /projects/:id/envs/:envId': works('Delete an environment and what it runs', removal()),
  },
})
