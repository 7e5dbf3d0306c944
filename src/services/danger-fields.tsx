import type { Danger } from './compose/dangers.ts'

/** What a file wants of this host; only an admin can allow it, each by itself. */
export const DangerFields = ({
  dangers,
  allowed,
  isAdmin,
}: {
  dangers: Danger[]
  allowed: string[]
  isAdmin: boolean
}) => {
  if (dangers.length === 0) return null
  return (
    <fieldset class="dangers">
      <legend>Power over this host</legend>
      {isAdmin && <input type="hidden" name="allowed" value="" />}
      {dangers.map(({ key, message }, index) =>
        isAdmin ? (
          <div class="field check">
            <input
              type="checkbox"
              id={`danger-${index}`}
              name="allowed"
              value={key}
              checked={allowed.includes(key)}
            />
            <label for={`danger-${index}`}>{message}</label>
          </div>
        ) : (
          <p>{message}</p>
        ),
      )}
      <p class="hint">
        {isAdmin
          ? 'Tick what you allow this service. Each of these is refused otherwise.'
          : 'Only an admin can allow this. Remove it from the file, or ask one of them.'}
      </p>
    </fieldset>
  )
}
