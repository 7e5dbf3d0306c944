import { TextField } from '../web/fields-view.tsx'

/** The public half of a project's own key, and where it goes. */
export const DeployKey = ({ publicKey }: { publicKey: string }) => (
  <TextField
    name=""
    id="deploy-key"
    label="Deploy key"
    value={publicKey}
    hint="Add it to the deploy keys of the repository, for reading only, then deploy: Davit clones with it."
    readonly
    code
  />
)
