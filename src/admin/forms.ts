import { z } from 'zod'
import { flag, line } from '../web/fields.ts'

export const userUpdateForm = z.object({
  role: z.enum(['admin', 'member'], 'must be admin or member.').optional(),
  disabled: flag().optional(),
})

/** What becomes of the projects and services of a user who is deleted. */
export const userRemovalForm = z.object({
  /** Given to another user where it is left out. */
  belongings: z.enum(['give', 'delete'], 'must be give or delete.').nullish(),
  /** Who gets them; the admin who deletes the user where it is left out. */
  heirId: line('the id of a user', { max: 36 }).nullish(),
  /** Of what is deleted, too; kept otherwise. */
  volumes: flag().nullish(),
})

/** Whether what an admin allowed a service counts. */
export const grantForm = z.object({ granted: flag() })
