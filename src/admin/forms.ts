import { z } from 'zod'
import { flag, line } from '../web/fields.ts'

export const userUpdateForm = z.object({
  role: z.enum(['admin', 'member'], 'must be admin or member.').optional(),
  disabled: flag().optional(),
})

/** Decides what happens to the projects and services of a deleted user. */
export const userRemovalForm = z.object({
  /** Defaults to `give`. */
  belongings: z.enum(['give', 'delete'], 'must be give or delete.').nullish(),
  /** The new owner; defaults to the admin who deletes the user. */
  heirId: line('the id of a user', { max: 36 }).nullish(),
  /** Deletes volumes, too. */
  volumes: flag().nullish(),
})

export const grantForm = z.object({ granted: flag() })
