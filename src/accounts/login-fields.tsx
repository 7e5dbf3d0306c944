import { TextField } from '../web/fields-view.tsx'
import { passwordLength } from './passwords.ts'

type Shown = { value?: string; hint?: string; autofocus?: boolean }

/** What one logs in with. */
export const EmailField = (shown: Shown) => (
  <TextField
    name="email"
    label="E-mail"
    type="email"
    autocomplete="username"
    maxlength={254}
    required
    {...shown}
  />
)

/** In forms that change how a user logs in it makes sure that it is still them who sit there. */
export const CurrentPassword = ({
  id,
  name = 'current_password',
  label = 'Current password',
}: {
  id?: string
  name?: string
  label?: string
}) => (
  <TextField
    {...{ name, label }}
    {...(id && { id })}
    type="password"
    autocomplete="current-password"
    required
  />
)

/** The password to have from then on. */
export const NewPassword = ({ label }: { label: string }) => (
  <TextField
    name="password"
    label={label}
    type="password"
    hint={`At least ${passwordLength.min} characters, and none of the most common passwords.`}
    autocomplete="new-password"
    minlength={passwordLength.min}
    required
  />
)
