import { asc, eq } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { countRows } from '../db/queries.ts'
import { environments, projects } from '../db/schema.ts'

export const hasLabel = (db: Tx, label: string) =>
  countRows(db, environments, eq(environments.label, label)) > 0

/** Environments of one project or all, with the parts of their names, oldest first. */
export const listNamed = (db: Db, projectId?: string) =>
  db
    .select({
      id: environments.id,
      label: environments.label,
      project: projects.name,
      environment: environments.name,
    })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(projectId === undefined ? undefined : eq(projects.id, projectId))
    .orderBy(asc(environments.id))
    .all()

export const setLabel = (db: Db, id: string, label: string | null) =>
  db.update(environments).set({ label }).where(eq(environments.id, id)).run()
