import { testRealBuilds } from './real-builds.ts'
import { workspaceApps } from './workspace-apps.ts'

testRealBuilds(workspaceApps)
