import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { EmptyState } from './components.tsx'
import { Button, ButtonLink } from './form.tsx'

export type Listing<Sort extends string = string> = { q: string; sort: Sort; page: number }

const pageSize = 25

/** Reads `?q=`, `?sort=` and `?page=`. An invalid value counts as missing. */
export function listingOf<Sort extends string>(
  c: Context,
  sorts: Readonly<Record<Sort, string>>,
): Listing<Sort> {
  const { q = '', sort = '', page = '' } = c.req.query()
  const [usual] = Object.keys(sorts) as Sort[]
  return {
    q: q.trim().slice(0, 100),
    sort: Object.hasOwn(sorts, sort) ? (sort as Sort) : usual!,
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  }
}

export type Listed<Item> = {
  items: Item[]
  /** Number of results on all pages. */
  total: number
  /** Number of items without the search. */
  all: number
  page: number
}

/** Finds the items whose text has every word of the search, and returns one page of them. */
export function listed<Item>(
  items: Item[],
  { q, page }: Pick<Listing, 'q' | 'page'>,
  textOf: (item: Item) => string,
): Listed<Item> {
  const words = folded(q).split(/\s+/).filter(Boolean)
  const found = items.filter((item) => {
    const text = folded(textOf(item))
    return words.every((word) => text.includes(word))
  })
  const last = Math.max(1, Math.ceil(found.length / pageSize))
  const shown = Math.min(page, last)
  return {
    items: found.slice((shown - 1) * pageSize, shown * pageSize),
    total: found.length,
    all: items.length,
    page: shown,
  }
}

const folded = (text: string) => text.normalize('NFKC').toLowerCase()

/** In natural order: `app 2` is before `app 10`. */
export const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare

export const activitySorts = {
  activity: 'Newest activity',
  name: 'Name',
  state: 'State',
} as const

export type ActivitySort = keyof typeof activitySorts

type Activity = {
  /** An id, as those sort by time of creation. */
  id: string
  name: string
  /** Lower is first among states. */
  rank: number
}

/** Equal names and states are sorted by activity. */
export function sortedBy<Item>(
  items: Item[],
  sort: ActivitySort,
  activityOf: (item: Item) => Activity,
): Item[] {
  const newestFirst = (a: Activity, b: Activity) => (a.id < b.id ? 1 : -1)
  const orders = {
    activity: newestFirst,
    name: (a: Activity, b: Activity) => byName(a.name, b.name) || newestFirst(a, b),
    state: (a: Activity, b: Activity) => a.rank - b.rank || newestFirst(a, b),
  }
  return items.toSorted((a, b) => orders[sort](activityOf(a), activityOf(b)))
}

type Props<Sort extends string> = {
  path: string
  listing: Listing<Sort>
  sorts: Readonly<Record<Sort, string>>
  /** The plural of the items, such as `projects`. */
  what: string
}

/** Searches as the user types; without script its button does. */
export const ListingForm = <Sort extends string>({ path, listing, sorts, what }: Props<Sort>) => (
  <form
    class="listing-form"
    role="search"
    action={path}
    hx-get={path}
    hx-trigger="input changed delay:250ms from:#listing-q, change from:#listing-sort, submit"
    hx-target="#main"
    hx-swap="innerMorph"
    data-listing
    hx-sync="this:replace"
  >
    <input
      id="listing-q"
      class="input"
      type="search"
      name="q"
      value={listing.q}
      placeholder="Search"
      aria-label={`Search ${what}`}
      autocomplete="off"
    />
    <select id="listing-sort" class="select" name="sort" aria-label={`Sort ${what}`}>
      {Object.entries<string>(sorts).map(([sort, name]) => (
        <option value={sort} selected={sort === listing.sort}>
          {name}
        </option>
      ))}
    </select>
    <noscript>
      <Button variant="outline">Search</Button>
    </noscript>
  </form>
)

/** Replaces a list in which the search found nothing. */
export const NothingFound = ({ path, children }: { path: string; children: Child }) => (
  <EmptyState title="Nothing found">
    <p>{children}</p>
    <ButtonLink variant="outline" href={path}>
      Show all
    </ButtonLink>
  </EmptyState>
)

/** The range that is shown, the total, and links to the other pages. */
export const Pages = ({
  path,
  listing,
  list: { items, total, all, page },
}: {
  path: string
  listing: Listing
  list: Listed<unknown>
}) => {
  const first = (page - 1) * pageSize + 1
  const at = (number: number) => {
    const query = new URLSearchParams({
      ...(listing.q && { q: listing.q }),
      sort: listing.sort,
      page: String(number),
    })
    return `${path}?${query}`
  }
  return (
    <nav class="pages" aria-label="Pages">
      <p class="muted">
        {total === 0 ? 'None' : `${first} to ${first + items.length - 1}`} of {total}
        {total < all && ` found, ${all} in all`}
      </p>
      {page > 1 && (
        <ButtonLink small variant="outline" href={at(page - 1)} rel="prev">
          Previous
        </ButtonLink>
      )}
      {page * pageSize < total && (
        <ButtonLink small variant="outline" href={at(page + 1)} rel="next">
          Next
        </ButtonLink>
      )}
    </nav>
  )
}
