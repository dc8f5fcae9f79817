import './app.css';

document.title = 'Portcullis console';
