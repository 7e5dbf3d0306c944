import { AppAddress, Fact } from '../web/components.tsx'
import { listPath } from './owner.ts'
import { lookOf } from './status.ts'
import type { ShownDomain } from './json.ts'
import { openAddresses } from './page-view.ts'
import type { AddressesView } from './page-view.ts'

/** The page of domains lists the rest. */
const mostShown = 8

export const Addresses = (view: AddressesView) => {
  const all = openAddresses(view)
  if (all.length === 0) return null
  return (
    <Fact name={all.length === 1 ? 'Address' : 'Addresses'}>
      <ul class="addresses">
        {all.slice(0, mostShown).map(({ url, domain }) => (
          <li>
            <AppAddress url={url} /> {domain && <NotReady {...{ domain, view }} />}
          </li>
        ))}
        {all.length > mostShown && (
          <li>
            <a href={listPath(view.of)}>and {all.length - mostShown} more</a>
          </li>
        )}
      </ul>
    </Fact>
  )
}

/** Says why one can't be used yet; the page of domains has the details. */
const NotReady = ({ domain, view }: { domain: ShownDomain; view: AddressesView }) => {
  const { word, tone } = lookOf(domain, view)
  return tone !== 'good' && <a href={listPath(view.of)}>{word}</a>
}
