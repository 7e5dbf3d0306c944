import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { findItems, itemsOf } from './items.ts'
import type { Item } from './items.ts'
import { Results, SearchPage } from './results.tsx'
import { listOwn } from './store.ts'

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
