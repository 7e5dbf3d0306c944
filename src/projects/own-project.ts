import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { ownFirst, userOf } from '../web/user-of.ts'
import { findProject } from './store.ts'
import type { Project } from './store.ts'

export const ownKey = (c: Context) => ({ id: c.req.param('id')!, ownerId: userOf(c).id })

export const ownProject = ({ db }: { db: Db }) => ownFirst((c) => findProject(db, ownKey(c)))

export const aboutProject = ({ id, name }: Project) => ({
  object: { kind: 'project', id, name } as const,
})
