import type { Pin } from '../runtime/pins.ts'
import type { Awaited } from '../servers/awaited-store.ts'
import { Fact } from '../web/components.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { Ago, Day } from '../web/times.tsx'

/** Says for which servers an app or a service waits, and what happens to what has no volumes there. */
export const AwaitedNote = ({ awaited, why }: { awaited: Awaited[]; why: string }) => (
  <>
    {awaited.map((one) => {
      const { begins, whichHas, ends } = wordsOf(one, why)
      return (
        <p class="note" role="status">
          {begins} <bdi>{one.name}</bdi>, which {whichHas}is away: last seen{' '}
          <Ago at={one.lastSeenAt!} />. {ends}
        </p>
      )
    })}
  </>
)

function wordsOf({ hasVolumes, isSought }: Awaited, why: string) {
  if (hasVolumes) return { begins: 'It waits for', whichHas: 'has its volumes and ', ends: '' }
  if (isSought)
    return {
      begins:
        'Davit’s data was put back to an earlier state, after which it may have been moved to',
      ends: 'It is looked for again once that server is back or was removed, and started once it can be nowhere else.',
    }
  return { begins: 'Some of it runs on', ends: why }
}

/** `path` is that of what is pinned, in the API. */
export const PinFact = ({ pin, path }: { pin: Pin | null; path: string }) =>
  pin && (
    <>
      <Fact name="Server">
        <bdi>{pin.server}</bdi>
        {pin.hasVolumes && <span class="muted"> where its volumes are</span>}
      </Fact>
      {pin.left && (
        <Fact name={pin.left.isCopy ? 'Failed move' : 'Before the move'}>
          {pin.left.isCopy ? 'The copy that it had started with' : 'What it had then'} is on{' '}
          <bdi>{pin.left.server}</bdi> until <Day at={pin.left.until} />.
          <DeleteButton
            path={`${path}/move`}
            label="Delete what the move left"
            question={{ text: whatIsDeleted(pin.server, pin.left), answer: 'Delete' }}
          >
            Delete
          </DeleteButton>
        </Fact>
      )}
    </>
  )

const whatIsDeleted = (server: string, left: NonNullable<Pin['left']>) =>
  left.isCopy
    ? `Delete the copy on ${left.server}, and what was written to it? It runs on ${server}, with what it had before.`
    : `Delete what it had on ${left.server}? It runs on ${server}, with what was copied there.`
