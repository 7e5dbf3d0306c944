import { TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/input.ts'

/** What makes sure that it is still the user who sits there, in forms that change how they log in. */
export const CurrentPassword = ({ draft, id }: { draft: Draft; id: string }) => (
  <TextField
    id={id}
    name="current_password"
    label="Current password"
    draft={draft}
    type="password"
    autocomplete="current-password"
    required
  />
)
