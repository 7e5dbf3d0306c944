import { Component } from '@angular/core'
import { bootstrapApplication } from '@angular/platform-browser'

@Component({ selector: 'app-root', template: '<h1>Welcome</h1>' })
class App {}

void bootstrapApplication(App)
