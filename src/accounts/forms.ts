import { z } from 'zod'
import { line } from '../web/fields.ts'
import { isCommonPassword, passwordLength } from './passwords.ts'

const isAddress = (text: string) => /^[^\s@]{1,64}@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u.test(text)

const email = line('an e-mail address', { max: 254 })
  .toLowerCase()
  .refine(isAddress, 'wants an e-mail address such as ada@example.com.')

const { min, max } = passwordLength

/** A new password is taken as it was typed: no blank trimmed, no kind of character demanded. */
const newPassword = z
  .string('wants a password.')
  .refine((text) => !text.includes('\0'), 'has a NUL character in it.')
  .refine((text) => [...text].length >= min, `wants at least ${min} characters.`)
  .refine((text) => [...text].length <= max, `is longer than ${max} characters.`)
  .refine((text) => !isCommonPassword(text), 'is one of the most common ones. Choose another.')

export const registerForm = z.object({
  email,
  password: newPassword,
  name: line('a name', { max: 100 }).nullish(),
  setupCode: line('the setup code', { max: 64 }).nullish(),
  invite: line('the code of an invitation', { max: 128 }).nullish(),
})

/** Says nothing about which e-mails or passwords can exist: whatever was typed is looked up. */
export const loginForm = z.object({
  email: line('your e-mail address', { max: 254 }).toLowerCase(),
  password: z.string('wants your password.').max(4096, 'is too long.'),
})
