import { TextField } from '../web/fields-view.tsx'
import { passwordLength } from './passwords.ts'

export const EmailField = (shown: { value?: string; hint?: string; autofocus?: boolean }) => (
  <TextField name="email" label="E-mail" type="email" autocomplete="username" required {...shown} />
)

/** Confirms the user's identity in forms that change how they log in. */
export const CurrentPassword = ({
  id,
  name = 'current_password',
  label = 'Current password',
  hint,
  optional = false,
  autofocus = false,
}: {
  id?: string
  name?: string
  label?: string
  hint?: string
  optional?: boolean
  autofocus?: boolean
}) => (
  <TextField
    {...{ name, label }}
    {...(id && { id })}
    hint={hint}
    type="password"
    autocomplete="current-password"
    required={!optional}
    autofocus={autofocus}
  />
)

export const NewPassword = ({ label }: { label: string }) => (
  <TextField
    name="password"
    label={label}
    type="password"
    hint={`At least ${passwordLength.min} characters, and not one of the most common passwords.`}
    autocomplete="new-password"
    minlength={passwordLength.min}
    required
  />
)
