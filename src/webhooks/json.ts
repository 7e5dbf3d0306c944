import { z } from 'zod'
import { component, componentOf, id, time, listOf, does, creates } from '../web/operation.ts'
import { gitProviders, registrySenders } from './store.ts'
import { deployment } from '../deployments/json.ts'
import type { SliceOperations } from '../web/operation.ts'

export const webhook = componentOf('Webhook', () => ({
  provider: z.enum(['github', 'gitlab', 'gitea']).nullable(),
  url: z.url().nullable(),
  registered: z.boolean(),
  own: z.boolean(),
  /** Your other project of the repository that has the webhook for both. */
  sharedWith: z.object({ id, name: z.string() }).nullable(),
}))

export const delivery = componentOf('Delivery', () => ({
  id,
  /** The provider, or by its body the registry: `distribution` for all that send what the distribution's does. */
  provider: z.enum([...gitProviders, ...registrySenders]),
  deliveryId: z.string(),
  event: z.string(),
  ref: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.object({ hash: z.string().nullable(), message: z.string().nullable() }),
  signatureOk: z.boolean(),
  /** Your other project of the repository whose secret signed it; null for this one's. */
  signedBy: id.nullable(),
  decision: z.enum(['refused', 'ignored', 'accepted', 'deployed', 'failed']).nullable(),
  reason: z.string().nullable(),
  deploymentIds: z.array(id),
  canReplay: z.boolean(),
  createdAt: time,
}))

export const deliveryList = component('DeliveryList', () =>
  listOf(delivery()).extend({
    receivers: z.array(z.object({ provider: z.enum(gitProviders), url: z.url() })),
  }),
)

const deployed = () => z.object({ deployments: z.array(deployment()) })
const shownSecret = () => z.object({ webhookSecret: z.string(), registryHook: z.url().optional() })

const receives = (what: string) => ({
  summary: `Receive ${what}`,
  body: z.looseObject({}),
  answers: {
    200: deployed().extend({
      reason: z.string().nullable(),
      /** Its event names no repository, so no inbox has it. */
      ignored: z.literal(true).optional(),
    }),
    202: deployed(),
  },
})

export const operations: SliceOperations = () => ({
  Webhooks: {
    'GET /projects/:id/webhook': does('Get the webhook from the provider', webhook()),
    'POST /projects/:id/webhook': creates('Create the webhook at the provider', webhook()),
    'DELETE /projects/:id/webhook': does('Delete the webhook at the provider', webhook()),
    'POST /projects/:id/webhook-secret': does(
      'Replace the webhook secret and show it',
      shownSecret(),
    ),
    'POST /projects/:id/webhook-secret/show': does('Show the webhook secret, once', shownSecret()),
    'GET /projects/:id/deliveries': does('List webhook deliveries', deliveryList()),
    'POST /projects/:id/deliveries/:deliveryId/replay': creates('Replay a delivery', deployed()),
    'POST /webhooks/github': receives('a push from GitHub'),
    'POST /webhooks/gitlab': receives('a push from GitLab'),
    'POST /webhooks/gitea': receives('a push from Gitea or Forgejo'),
    'POST /hooks/registry/:secret': receives('a new image from its registry'),
  },
})
