/*
 * All that git is asked, loaded together when it is first asked.
 */
export { readDockerfile } from './context-files.ts'
export { archiveContext, prepareContext } from './context.ts'
export { openDirectory } from './directory.ts'
export { fetchSnapshot } from './fetch.ts'
export { pathsOf, removeMirror } from './mirror.ts'
export { listBranches, listRefs } from './remote.ts'
export { runGit } from './run.ts'
export { readTip } from './tip.ts'
export { importUpload } from './upload.ts'
