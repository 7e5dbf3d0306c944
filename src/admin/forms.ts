import { z } from 'zod'
import { flag, line } from '../web/fields.ts'

export const userUpdateForm = z.object({
  role: z.enum(['admin', 'member'], 'must be admin or member.').optional(),
  disabled: flag().optional(),
})

/** What happens to the projects and services of a deleted user. */
export const userRemovalForm = z.object({
  /** Transferred to another user by default. */
  belongings: z.enum(['give', 'delete'], 'must be give or delete.').nullish(),
  /** The new owner; by default the admin who deletes the user. */
  heirId: line('the id of a user', { max: 36 }).nullish(),
  /** Whether volumes are deleted, too. */
  volumes: flag().nullish(),
})

/** Whether the grants of a service are active. */
export const grantForm = z.object({ granted: flag() })
