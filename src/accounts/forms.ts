import { z } from 'zod'
import {
  emailAddress,
  isWhole,
  line,
  lines,
  notWhole,
  unlessMissing,
  whole,
} from '../web/fields.ts'
import { field } from '../web/schema-fields.tsx'
import { isCommonPassword, passwordLength } from './passwords.ts'
import { tokenScopes } from './token-store.ts'

const { min, max } = passwordLength

/** A new password is used as entered: no trimming, no required character classes. */
const newPassword = z
  .string(unlessMissing('must be a password.'))
  .refine((text) => !text.includes('\0'), 'can’t contain a NUL character.')
  .refine(isWhole, notWhole)
  .refine((text) => [...text].length >= min, `must be at least ${min} characters.`)
  .refine((text) => [...text].length <= max, `must be at most ${max} characters.`)
  .refine((text) => !isCommonPassword(text), 'is one of the most common ones. Choose another.')

export const registerForm = z.object({
  email: emailAddress(),
  password: newPassword,
  name: line('a name', { max: 100 }).nullish(),
  setupCode: line('the setup code', { max: 64 }).nullish(),
  invite: line('the code of an invitation', { max: 128 }).nullish(),
})

/** Accepts any input, so that a refusal doesn't reveal which e-mails or passwords can exist. */
export const loginForm = z.object({
  email: line('your e-mail address', { max: 254 }).toLowerCase(),
  password: z.string(unlessMissing('must be your password.')).max(4096, 'is too long.'),
})

export const forgottenForm = z.object({ email: emailAddress() })

export const resetForm = z.object({
  reset: line('the code of a link', { max: 128 }),
  password: newPassword,
})

export const inviteForm = z.object({
  email: field(emailAddress().nullish(), {
    label: 'E-mail',
    placeholder: 'ada@example.com',
    hint: 'Davit mails the link there if an e-mail channel is set to send invitations. Leave empty to send it yourself.',
  }),
})

/** A current password is never refused for its format, only when it is wrong. */
const currentPassword = z
  .string(unlessMissing('must be your password.'))
  .max(4096, 'is too long.')
  .nullish()

export const profileForm = z.object({
  email: emailAddress().optional(),
  name: line('a name', { max: 100 }).nullish(),
  currentPassword,
})

export const linkForm = z.object({ currentPassword })

export const passwordForm = z.object({ currentPassword, password: newPassword })

const scope = z.enum(tokenScopes, `must be one or more of ${tokenScopes.join(', ')}.`)

export const tokenForm = z
  .object({
    name: field(line('a name', { max: 60 }), {
      label: 'Name',
      placeholder: 'release pipeline',
      hint: 'What it is for, so that you know what stops working if you revoke it.',
    }),
    scopes: field(
      lines(scope, { max: tokenScopes.length }).pipe(
        z
          .array(scope)
          .min(1, `must be one or more of ${tokenScopes.join(', ')}.`)
          .transform((scopes) => tokenScopes.filter((one) => scopes.includes(one))),
      ),
      {
        label: 'Scope',
        hint: 'No token can change your password, sessions, tokens, or other users.',
        initial: 'deploy',
        options: [
          { value: 'metrics', label: 'metrics: only read /metrics, for Prometheus' },
          { value: 'read', label: 'read: view everything' },
          { value: 'deploy', label: 'deploy: also deploy, roll back, cancel, replay' },
          { value: 'write', label: 'write: also create, change, delete' },
        ],
      },
    ),
    expiresInDays: field(whole('a number of days', { min: 1, max: 3650 }).nullish(), {
      label: 'Expires',
      initial: '90',
      options: [
        { value: '30', label: 'in 30 days' },
        { value: '90', label: 'in 90 days' },
        { value: '365', label: 'in a year' },
        { value: '', label: 'never' },
      ],
    }),
    projectId: field(line('the id of a project', { max: 100 }).nullish(), {
      label: 'Project',
      hint: 'With one, it reads and deploys this project and reaches nothing else: for a pipeline.',
      options: [],
    }),
    currentPassword,
  })
  .refine(({ projectId, scopes }) => !projectId || !scopes.includes('write'), {
    path: ['scopes'],
    error: 'can’t be write for a token that is limited to a project. Choose deploy.',
  })
