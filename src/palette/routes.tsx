import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { findItems, itemsOf } from './items.ts'
import type { Item } from './items.ts'
import { listOwn } from './store.ts'
import { PageHead } from '../web/components.tsx'
import { Button, HiddenFields, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'

const asked = z.object({
  q: z.string().trim().max(100, 'Must be 100 characters or fewer.').default(''),
})

export const paletteRoutes = ({ db }: { db: Db }) =>
  factory.createApp().get('/search', query(asked), (c) => {
    const { q } = c.req.valid('query')
    const user = userOf(c)
    const items = findItems(itemsOf(listOwn(db, user.id), user), q)
    return show(c, {
      title: q ? `${q} · Search` : 'Search',
      page: () => <SearchPage q={q} items={items} />,
      partial: () => <Results items={items} isPalette />,
      json: () => ({ items: items.map(itemJson), nextCursor: null }),
    })
  })

const itemJson = ({ kind, name, detail, url, fields }: Item) => ({
  ...{ kind, name, detail, url },
  method: fields ? 'POST' : 'GET',
  fields: fields ?? {},
})

/** The search without scripts. */
const SearchPage = ({ q, items }: { q: string; items: Item[] }) => (
  <div class="narrow">
    <PageHead title="Search" crumbs={[{ href: '/dashboard', name: 'Dashboard' }]} />
    <form class="docs-search" role="search" action="/search">
      <input
        class="input"
        type="search"
        name="q"
        value={q}
        maxlength={100}
        aria-label="Search"
        placeholder="Apps, settings, actions"
      />
      <Button variant="outline">Search</Button>
    </form>
    <Results items={items} />
  </div>
)

/** In the palette these are the options of its field; palette.js moves between them. */
const Results = ({ items, isPalette = false }: { items: Item[]; isPalette?: boolean }) => {
  const roles = isPalette ? { list: 'listbox', item: 'none' } : {}
  if (items.length === 0)
    return <p class="found-none">Nothing found. Try fewer words, or other ones.</p>
  return (
    <ul class="found" id="found" role={roles.list} aria-label="Results">
      {items.map((item, at) => (
        <li role={roles.item}>
          <Result
            item={item}
            {...(isPalette && { id: `found-${at}`, role: 'option', tabindex: -1 })}
          />
        </li>
      ))}
    </ul>
  )
}

type ResultProps = { item: Item; id?: string; role?: string; tabindex?: number }

const Result = ({ item: { icon, name, detail, url, fields }, ...option }: ResultProps) => {
  const content = (
    <>
      <Icon name={icon} />
      <bdi class="found-name">{name}</bdi>
      <bdi class="found-detail">{detail}</bdi>
    </>
  )
  if (!fields)
    return (
      <a {...option} class="found-item" href={url}>
        {content}
      </a>
    )
  return (
    <PostForm action={url}>
      <HiddenFields
        fields={Object.entries(fields).map(([field, value]) => ({ name: field, value }))}
      />
      <button {...option} class="found-item" type="submit">
        {content}
      </button>
    </PostForm>
  )
}
