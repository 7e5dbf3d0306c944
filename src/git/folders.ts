/* What a start needs of git, apart from all that it does: that is loaded when it is first asked. */
import { join } from 'node:path'

// emptied at startup, as a killed process leaves its files behind
export const keyDirectory = (home: string) => join(home, 'keys')
export const gitDirectories = (home: string) => join(home, 'git-directories')
/** Has the temporary repositories of lookups. */
export const looksFolder = (home: string) => join(home, 'looks')

/** The file of the commit's ref in the repository of an upload. */
export const uploadRef = 'refs/heads/upload'
