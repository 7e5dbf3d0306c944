import type { Pin } from '../runtime/pins.ts'
import type { Awaited } from '../servers/store.ts'
import { Fact } from '../web/components.tsx'
import { Ago } from '../web/times.tsx'

/** Says for which servers an app or a service waits, and what happens to what has no volumes there. */
export const AwaitedNote = ({ awaited, why }: { awaited: Awaited[]; why: string }) => (
  <>
    {awaited.map(({ name, lastSeenAt, hasVolumes }) => (
      <p class="note" role="status">
        {hasVolumes ? 'It waits for' : 'Some of it runs on'} <bdi>{name}</bdi>, which{' '}
        {hasVolumes && 'has its volumes and '}is away: last seen <Ago at={lastSeenAt!} />.{' '}
        {!hasVolumes && why}
      </p>
    ))}
  </>
)

export const PinFact = ({ pin }: { pin: Pin | null }) =>
  pin && (
    <Fact name="Server">
      <bdi>{pin.server}</bdi>
      {pin.hasVolumes && <span class="muted"> where its volumes are</span>}
    </Fact>
  )
