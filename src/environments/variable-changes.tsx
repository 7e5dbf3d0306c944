import { Difference } from '../web/components.tsx'

export type VariableChange = ReturnType<typeof variableChanges>[number]

type Variables = ReadonlyMap<string, { value: string; secret: boolean }>
type Mask = (value: string) => string
type Change = 'added' | 'changed' | 'removed'

/**
 * The differences by key. `from` and `to` are null for a variable that is secret on either side; values that may
 * be part of a stored secret are masked.
 */
export function variableChanges(
  before: Variables,
  after: Variables,
  { from: maskFrom, to: maskTo }: { from: Mask; to: Mask },
) {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort()
  return keys.flatMap((key) => {
    const [from, to] = [before.get(key), after.get(key)]
    if (from?.value === to?.value) return []
    const secret = from?.secret || to?.secret || false
    const change: Change = !from ? 'added' : !to ? 'removed' : 'changed'
    return {
      key,
      change,
      secret,
      from: secret || !from ? null : maskFrom(from.value),
      to: secret || !to ? null : maskTo(to.value),
    }
  })
}

export const VariableChanges = ({
  changes,
  notes,
}: {
  changes: VariableChange[]
  /** A remark on the new value, by key. */
  notes?: ReadonlyMap<string, string>
}) =>
  changes.length === 0 ? (
    <p class="hint">Nothing changes.</p>
  ) : (
    <ul class="difference">
      {changes.map(({ key, change, secret, from, to }) => (
        <li>
          <code>{key}</code>{' '}
          {secret ? (
            <span class="muted">{change === 'changed' ? 'another secret value' : change}</span>
          ) : (
            <Difference from={from} to={to} />
          )}
          {notes?.has(key) && <span class="muted"> {notes.get(key)}</span>}
        </li>
      ))}
    </ul>
  )
