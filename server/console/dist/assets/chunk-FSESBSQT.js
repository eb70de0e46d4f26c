import{g as e}from"./chunk-FGJDHSLG.js";var o={poses:null,reactions:[],ellipsoids:[],com:null,follow:!1},l=new e(o);export{o as a,l as b};
