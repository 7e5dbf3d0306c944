import { z } from 'zod'
import { user } from './resources.ts'

/*
 * What admins get of all users.
 */

const id = z.uuid()
const time = z.iso.datetime()

export const governedUser = user.extend({
  disabledAt: time.nullable(),
  deleting: z.boolean(),
})

/** What a deleted user had, by name, and who has it now; null where it was deleted, too. */
export const userRemoval = z.object({
  projects: z.array(z.string()),
  services: z.array(z.string()),
  heir: z.object({ id, email: z.string() }).nullable(),
})

/** What waits or is at work; `id` is that of the deployment or service. */
export const activity = z.object({
  kind: z.enum(['deployment', 'service', 'clean-up']),
  id: id.nullable(),
  name: z.string(),
  status: z.string(),
  owner: z.object({ id: id.nullable(), email: z.string() }),
  since: time,
})

/** What a service may do to the host; nobody allows it any more where it has lapsed. */
export const grant = z.object({
  service: z.object({ id, name: z.string() }),
  owner: z.object({ id, email: z.string() }),
  allowed: z.array(z.string()),
  allowedBy: z.object({ id, email: z.string() }).nullable(),
})
