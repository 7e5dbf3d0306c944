import type { Project } from './store.ts'

/** The list of fields is explicit so that no secret slips in. */
export const projectJson = (project: Project) => ({
  id: project.id,
  name: project.name,
  repositoryUrl: project.repositoryUrl,
  sourceId: project.sourceId,
  repository: project.repository,
  branch: project.branch,
  dockerfilePath: project.dockerfilePath,
  contextDir: project.contextDir,
  buildArgs: project.buildArgs,
  buildNetwork: project.buildNetwork,
  gitDirectory: project.gitDirectory,
  autoDeploy: project.autoDeploy,
  watchPaths: project.watchPaths,
  keepImages: project.keepImages,
  /** The public key, for the repository's settings. */
  deployKey: project.deployKeyPublic,
  /** True while the provider still has the webhook secret of the project's former owner. */
  webhookOutdated: project.webhookOutdated,
  deleting: project.deletingAt !== null,
  createdAt: project.createdAt,
})
