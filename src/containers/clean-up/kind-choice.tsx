import type { PruneKind } from './kinds.ts'

export const kindLabels: Record<PruneKind, string> = {
  containers: 'Containers',
  images: 'Images',
  networks: 'Networks',
  volumes: 'Volumes',
  build_cache: 'Build cache',
}

/** The empty field before the checkboxes makes "none selected" differ from "field omitted". */
export const KindChoice = ({
  label,
  kinds,
  ticked,
  error,
}: {
  label: string
  kinds: readonly PruneKind[]
  ticked: readonly PruneKind[]
  error?: string | undefined
}) => (
  <fieldset class="kind-choice">
    <legend>{label}</legend>
    <input type="hidden" name="what" value="" />
    {kinds.map((kind) => (
      <label>
        <input type="checkbox" name="what" value={kind} checked={ticked.includes(kind)} />
        {kindLabels[kind]}
      </label>
    ))}
    {error && <p class="field-error">Select at least one.</p>}
  </fieldset>
)
