import { TextField } from '../web/fields-view.tsx'

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
