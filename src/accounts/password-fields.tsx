import { TextField } from '../web/fields-view.tsx'
import { passwordLength } from './passwords.ts'

/** What makes sure that it is still the user who sits there, in forms that change how they log in. */
export const CurrentPassword = ({ id }: { id: string }) => (
  <TextField
    id={id}
    name="current_password"
    label="Current password"
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
