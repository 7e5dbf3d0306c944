import { and, count, desc, eq, inArray, isNotNull, isNull, like, ne, or, sql } from 'drizzle-orm'
import type { Column, SQL } from 'drizzle-orm'
import { changeRow, countRows, getRow, listPage, listRows, listValues } from '../db/queries.ts'
import type { Changes } from '../db/columns.ts'
import type { Db } from '../db/index.ts'
import type { CodeSettings } from '../db/schema.ts'
import { deployments, environments, jobs, previews, projects, runs } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import { backupsOf } from '../jobs/store.ts'
import { found, refuseDeleting } from '../platform/errors.ts'
import { listStackImages } from '../runtime/images/stack-store.ts'
import type { Page } from '../web/paging.ts'

export type Project = typeof projects.$inferSelect
type ProjectValues = typeof projects.$inferInsert

/** Throws the same error for someone else's project as for a missing one. */
export const findProject = (db: Db, { id, ownerId }: Pick<Project, 'id' | 'ownerId'>) =>
  found('project', getRow(db, projects, and(eq(projects.id, id), eq(projects.ownerId, ownerId))))

export function findLiveProject(db: Db, key: { id: string; ownerId: string }) {
  const project = findProject(db, key)
  refuseDeleting('Project', project)
  return project
}

/** Newest first, with one more row than the page, which shows that more follow. */
export const listProjects = (db: Db, { ownerId, ...page }: { ownerId: string } & Page) =>
  listPage(db, projects, eq(projects.ownerId, ownerId), page)

export const listDeployedProjects = (db: Db, ownerId: string) =>
  db
    .select({
      project: projects,
      latest: {
        id: deployments.id,
        status: deployments.status,
        createdAt: deployments.createdAt,
      },
    })
    .from(projects)
    .leftJoin(
      deployments,
      sql`${deployments.id} = (SELECT d.id FROM deployments d WHERE d.project_id = ${projects.id} ORDER BY d.id DESC LIMIT 1)`,
    )
    .where(eq(projects.ownerId, ownerId))
    .all()

export const countProjects = (db: Db, ownerId: string) =>
  countRows(db, projects, eq(projects.ownerId, ownerId))

export const countEnvironments = (db: Db, ownerId: string) =>
  db
    .select({ rows: count() })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(eq(projects.ownerId, ownerId))
    .get()!.rows

export const listProjectsBeingDeleted = (db: Db) =>
  listRows(db, projects, isNotNull(projects.deletingAt))

/** Also creates the environment `production`. */
export const insertProject = (
  db: Db,
  values: ProjectValues,
  first: { hostPort: number; label?: string },
) =>
  refuseDuplicate(
    () =>
      db.transaction((tx) => {
        const project = tx.insert(projects).values(values).returning().get()
        tx.insert(environments)
          .values({ projectId: project.id, name: 'production', ...first })
          .run()
        return project
      }),
    duplicates,
  )

export const updateProject = (db: Db, id: string, values: Changes<typeof projects>) =>
  refuseDuplicate(() => changeRow(db, projects, id, values), duplicates)

/** One of another repository that it got meanwhile stays. */
export const forgetWebhook = (db: Db, { id, webhookId }: Pick<Project, 'id' | 'webhookId'>) =>
  void db
    .update(projects)
    .set({ webhookId: null })
    .where(and(eq(projects.id, id), eq(projects.webhookId, webhookId ?? '')))
    .run()

const duplicates = { name: 'You already have a project with this name. Choose another name.' }

/** Of the environments that are previews. */
export const previewIds = (db: Db, projectId: string) =>
  new Set(listValues(db, previews.environmentId, eq(previews.projectId, projectId)))

export const deleteProject = (db: Db, id: string) =>
  db.delete(projects).where(eq(projects.id, id)).run()

export function listOwnRepositories(db: Db, projectId: string) {
  const used = (isWanted: (column: Column, id: string) => SQL) => [
    ...listValues(db, projects.repositoryUrl, isWanted(projects.id, projectId)),
    ...listValues(db, deployments.repositoryUrl, isWanted(deployments.projectId, projectId)),
  ]
  const shared = new Set(used(ne))
  return [...new Set(used(eq))].filter((url) => url !== '' && !shared.has(url))
}

export const lastCommit = (db: Db, { id, repositoryUrl }: Pick<Project, 'id' | 'repositoryUrl'>) =>
  db
    .select({ hash: deployments.commitHash })
    .from(deployments)
    .where(
      and(
        eq(deployments.projectId, id),
        eq(deployments.repositoryUrl, repositoryUrl),
        isNotNull(deployments.commitHash),
      ),
    )
    .orderBy(desc(deployments.id))
    .limit(1)
    .get()?.hash ?? null

export const listSiblings = (db: Db, project: Pick<Project, 'id' | 'ownerId' | 'repositoryUrl'>) =>
  project.repositoryUrl === ''
    ? []
    : listRows(
        db,
        projects,
        and(
          eq(projects.ownerId, project.ownerId),
          eq(projects.repositoryUrl, project.repositoryUrl),
          ne(projects.id, project.id),
          isNull(projects.deletingAt),
        ),
      )

/** Another project of the repository that has this webhook; several may build it, of several owners. */
export const findWebhookHolder = (
  db: Db,
  { project, webhookId }: { project: Project; webhookId: string },
) =>
  listRows(
    db,
    projects,
    and(
      ne(projects.id, project.id),
      eq(projects.repositoryUrl, project.repositoryUrl),
      eq(projects.webhookId, webhookId),
    ),
  )[0]

/** A whole project, or one environment. */
type Scope = { projectId: string; environmentId?: string }

const isDeployedIn = ({ projectId, environmentId }: Scope) =>
  and(
    eq(deployments.projectId, projectId),
    environmentId ? eq(deployments.environmentId, environmentId) : undefined,
  )

/** The ids are the keys of log rows. */
export const listDeploymentIds = (db: Db, of: Scope) =>
  listValues(db, deployments.id, isDeployedIn(of))

/** The images of deployments: pulled ones have no labels, promoted ones those of another environment. */
export const listNamedImages = (db: Db, of: Scope) => listImagesOf(db, isDeployedIn(of))

export const listImagesBeside = (
  db: Db,
  { projectId, environmentId }: { projectId: string; environmentId: string },
) =>
  listImagesOf(
    db,
    and(eq(deployments.projectId, projectId), ne(deployments.environmentId, environmentId)),
  )

/** With those of the services of Compose files; only names that Davit gave. */
function listImagesOf(db: Db, deployed: SQL | undefined) {
  const isOurs = and(deployed, like(deployments.image, 'davit/%'))
  const images = listValues(db, deployments.image, isOurs) as string[]
  return [...images, ...listStackImages(db, images)]
}

/** The subjects of jobs: the environments themselves, and those of their runs and backups. */
export function listJobSubjects(db: Db, environmentIds: string[]) {
  const ofThem = inArray(runs.environmentId, environmentIds)
  const runIds = db.select({ id: runs.id }).from(runs).where(ofThem)
  const ofRuns = listValues(db, jobs.subjectId, inArray(jobs.id, runIds))
  return [...environmentIds, ...environmentIds.map(backupsOf), ...ofRuns]
}

export const listEnvironmentIds = (db: Db, projectId: string) =>
  listValues(db, environments.id, eq(environments.projectId, projectId))

export type SharedCode = CodeSettings | null

/** The settings of the project that none of its environments uses, because the commit of each sets them. */
export function sharedCode(db: Db, projectId: string): SharedCode {
  const all = listRows(
    db,
    environments,
    and(eq(environments.projectId, projectId), isNull(environments.deletingAt)),
  ).map(({ codeSettings }) => codeSettings)
  const [first] = all
  if (!first) return null
  const { build, watchPaths } = first.settings
  const isShared = (name: keyof CodeSettings['settings']) =>
    all.every((code) => code?.settings[name] !== undefined)
  return {
    file: first.file,
    settings: {
      ...(build && isShared('build') && { build }),
      ...(watchPaths && isShared('watchPaths') && { watchPaths }),
    },
  }
}

export const listTargets = (db: Db, projectId: string) =>
  db
    .select({ id: environments.id, name: environments.name })
    .from(environments)
    .where(and(eq(environments.projectId, projectId), isNull(environments.deletingAt)))
    .orderBy(environments.id)
    .all()

/** Those with settings about commits, besides the project’s branch. */
export const listFollowing = (db: Db, projectId: string) => {
  const { branch, tags, waitForChecks, deletingAt } = environments
  const isFollowing = or(isNotNull(branch), isNotNull(tags), eq(waitForChecks, true))
  const ofProject = and(eq(environments.projectId, projectId), isNull(deletingAt))
  return listRows(db, environments, and(ofProject, isFollowing))
}
