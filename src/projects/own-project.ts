import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { userOf } from '../web/user-of.ts'
import { factory } from '../web/factory.ts'
import { findProject } from './store.ts'
import type { Project } from './store.ts'

/** Finds the project of `/projects/:id…` only for its owner. */
export const ownKey = (c: Context) => ({ id: c.req.param('id')!, ownerId: userOf(c).id })

/** Runs before `input`, so that someone else's project is missing, whatever was sent. */
export const ownProject = ({ db }: { db: Db }) =>
  factory.createMiddleware(async function checkOwner(c, next) {
    findProject(db, ownKey(c))
    await next()
  })

/** Identifies a project in the audit log. */
export const aboutProject = ({ id, name }: Project) => ({
  object: { kind: 'project', id, name } as const,
})
